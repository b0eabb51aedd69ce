"""Trace files in CSV: rows with their line numbers, and one clear sentence for what is malformed."""

from __future__ import annotations

import csv
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from schedgap.instances.documents.openings import lines_of
from schedgap.instances.errors import InstanceError
from schedgap.instances.unpacked import unpacked

# Far above any machine or time, and a thousandfold of it still fits into 64 bits.
LARGEST = 2**50
_WHOLE = re.compile(r"\s*[+-]?\d{1,4000}\s*", re.ASCII)


def read_rows(
    path: Path, columns: Sequence[str], what: str, *, separator: str = ","
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield line number and fields, by column, of each row below the header; empty lines are left out. Plain or gzip.

    columns : those that must be there. what : how messages call the file, such as `pod list`. separator : of fields;
    with any but a comma, quotation marks are characters like any other.

    Raises
    ------
    InstanceError
        naming the line: a missing column, one that is there twice, a short or long line, a file that cannot be read.
    """
    try:
        with unpacked(path) as content, io.TextIOWrapper(content, newline="", encoding="utf-8-sig") as file:
            quoting = csv.QUOTE_MINIMAL if separator == "," else csv.QUOTE_NONE
            lines = csv.reader(lines_of(file), delimiter=separator, quoting=quoting)  # type: ignore[arg-type]
            header = [name.strip() for name in next(filter(None, lines), [])]
            where = f"{path.name} line {lines.line_num or 1}"
            missing = [column for column in columns if column not in header]
            if missing:
                raise InstanceError(f"{where}: no column '{missing[0]}'; a {what} has {', '.join(columns)}.")
            twice = [column for column in filter(None, header) if header.count(column) > 1]
            if twice:
                raise InstanceError(f"{where}: column '{twice[0]:.60}' is there twice; remove one.")
            for row in filter(None, lines):
                if len(row) != len(header):
                    raise InstanceError(
                        f"{path.name} line {lines.line_num}: {len(row)} fields, the header has {len(header)}; "
                        "the file is truncated or malformed there."
                    )
                yield lines.line_num, dict(zip(header, row, strict=True))
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise InstanceError(f"{path}: cannot be read ({reason}); give the {what} of the trace.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InstanceError(
            f"{path}: cannot be read as a UTF-8 CSV file ({error}); give the {what} of the trace."
        ) from None


def whole_number(path: Path, line: int, column: str, text: str) -> int:
    """Return a field as a whole number from 0 to `LARGEST`.

    Raises
    ------
    InstanceError
        naming the line and the column of anything else.
    """
    # Not all that Python reads is a number to others: `1_0`, digits of other scripts.
    if _WHOLE.fullmatch(text) is None:
        raise InstanceError(
            f"{path.name} line {line}: {column} is '{text:.60}', not a whole number; mend or remove the line."
        )
    value = int(text)
    if value < 0:
        raise InstanceError(f"{path.name} line {line}: {column} is {value}; it must not be negative.")
    if value > LARGEST:
        raise InstanceError(f"{path.name} line {line}: {column} is {text:.60}; it must be at most {LARGEST}.")
    return value


def exact_units(path: Path, line: int, column: str, text: str, scale: int) -> int:
    """Return a decimal number as whole units, of which `scale` are one, up to `LARGEST`.

    Raises
    ------
    InstanceError
        naming the line and the column of what is no plain decimal number, or no whole number of units.
    """
    if re.fullmatch(r"\d{1,16}(\.\d{1,16})?", text, re.ASCII) is None:
        raise InstanceError(
            f"{path.name} line {line}: {column} is '{text:.60}', not a decimal number such as 0.25; mend or remove the line."
        )
    units = Fraction(text) * scale
    if units.denominator > 1 or units > LARGEST:
        raise InstanceError(
            f"{path.name} line {line}: {column} is {text}; give a whole number of 1/{scale}, at most {LARGEST // scale}."
        )
    return int(units)
