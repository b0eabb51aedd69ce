"""Regressions that are told and do not fail the gate: those that a suite's `[gate]` allows, and those that were accepted.

A file of accepted regressions, `gate-accepted.toml`, says of each what, why, by whom and until when.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from schedgap.bench.comparison.findings import ChangeKind, Finding
from schedgap.bench.suites.collection import STRICT, Allowed
from schedgap.instances.documents.json_files import first_problem
from schedgap.instances.documents.openings import read_given
from schedgap.instances.errors import SuiteError

ACCEPTED = Path("gate-accepted.toml")


class Accepted(Allowed):
    """A regression that somebody accepted. until : the last day on which it holds."""

    who: Annotated[str, Field(min_length=1)]
    until: date

    @property
    def told(self) -> str:
        """Why a finding does not fail the gate."""
        return f"accepted by {self.who} until {self.until}: {self.reason}"


class _File(BaseModel):
    model_config = STRICT
    accepted: list[Accepted]


def read_accepted(path: Path | None) -> list[Accepted]:
    """Return what was accepted. path : None for `gate-accepted.toml` of this folder, which need not be there.

    Raises
    ------
    SuiteError
        naming file and field of what is wrong.
    """
    if path is None and not ACCEPTED.exists():
        return []
    path = path or ACCEPTED
    try:
        return _File.model_validate(tomllib.loads(read_given(path).decode())).accepted
    except OSError as error:
        raise SuiteError(f"{path}: cannot be read ({error.strerror}); give the path of a TOML file.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SuiteError(f"{path}: not TOML: {error}.") from None
    except ValidationError as error:
        raise SuiteError(f"{path}: {first_problem(error, _File)}") from None


def sort_out(
    regressions: Iterable[Finding], by_suite: Sequence[Allowed], accepted: Sequence[Accepted], today: date | None = None
) -> tuple[list[Finding], list[Finding], list[str]]:
    """Return the regressions that count, those that are told only, and notes on what was accepted and does nothing.

    today : of expiry; None for the day that it is. A contradiction always counts.
    """
    today = today or datetime.now(UTC).date()
    holding = [each for each in accepted if each.until >= today]
    counting, told, used = [], [], set()
    for finding in regressions:
        rule = next((each for each in (*by_suite, *holding) if _covers(each, finding)), None)
        if rule is None:
            counting.append(finding)
        else:
            used.add(id(rule))
            told.append(replace(finding, allowed=rule.told))
    notes = [
        f"Accepted until {each.until}, which is over: {each.method} ({each.reason}); decide anew."
        for each in accepted
        if each not in holding
    ]
    notes += [
        f"Accepted, and nothing is worse there any more: {each.method} ({each.reason}); remove the entry."
        for each in holding
        if id(each) not in used
    ]
    return counting, told, notes


def _covers(rule: Allowed, finding: Finding) -> bool:
    texts = {"method": finding.method, "instance": finding.instance, "group": finding.group, "what": str(finding.kind)}
    if finding.kind is ChangeKind.CONTRADICTION or not all(
        fnmatchcase(text, getattr(rule, name).replace("[", "[[]")) for name, text in texts.items()
    ):
        return False
    return rule.change is None or (finding.change is not None and abs(finding.change) <= rule.change)
