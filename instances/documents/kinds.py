"""What fields of JSON documents may hold, in every family."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

STRICT = ConfigDict(extra="forbid", allow_inf_nan=False, strict=True)
Amount = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
# Larger whole numbers are refused here, before NumPy meets one of more than 64 bits.
Count = Annotated[int, Field(ge=1, le=2**53)]
Index = Annotated[int, Field(ge=0, le=2**53)]
