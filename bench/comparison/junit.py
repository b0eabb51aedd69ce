"""A comparison as JUnit XML: a test case for each run, a test suite for each method, for whatever shows test results."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from schedgap.bench.comparison import wording
from schedgap.bench.records.measurement import FAILED

if TYPE_CHECKING:
    from schedgap.bench.comparison.comparison import Comparison
    from schedgap.bench.comparison.findings import Finding
    from schedgap.bench.comparison.pairs import Pair

# What XML 1.0 cannot hold, and what a method may well have printed.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Test cases about no single run.
OVERALL = "all instances"


def to_junit(comparison: Comparison) -> str:
    """Return the XML document.

    Failures are regressions, an error says why nothing can be compared, skipped is what failed on both sides or is in
    NEW only.
    """
    root = ElementTree.Element("testsuites", name="schedgap compare")
    if comparison.problem is not None:
        case = _case(_suite(root, "schedgap"), "schedgap", "comparison")
        _child(case, "error", "not-comparable", wording.verdict(comparison))
    by_run: dict[tuple[str, str, str, int | None], Finding] = {}
    of_methods: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in comparison.regressions:
        key = (finding.family, finding.digest, finding.method, finding.seed)
        if finding.digest and key not in by_run:
            by_run[key] = finding
        elif not finding.digest:
            of_methods[finding.family, finding.method].append(finding)
    pairs: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair in comparison.pairs:
        pairs[pair.run.family, pair.run.label].append(pair)
    for (family, label), own in pairs.items():
        suite = _suite(root, label)
        for pair in own:
            run = pair.run
            _add_pair(suite, pair, by_run.get((family, run.digest, label, run.seed)))
        for finding in of_methods[family, label]:
            _fail(_case(suite, label, f"{finding.kind} over {OVERALL}"), finding)
    for element in (root, *root):
        cases = list(element.iter("testcase"))
        element.set("tests", str(len(cases)))
        for kind, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            element.set(name, str(sum(case.find(kind) is not None for case in cases)))
    ElementTree.indent(root, " ")
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _add_pair(suite: ElementTree.Element, pair: Pair, finding: Finding | None) -> None:
    run = pair.run
    case = _case(suite, run.label, f"{run.instance} seed {run.seed}" if pair.stochastic else run.instance)
    if pair.new is not None and pair.new.measurement.wall_s is not None:
        case.set("time", f"{pair.new.measurement.wall_s:.6f}")
    if finding is not None:
        _fail(case, finding)
    elif pair.base is None:
        _child(case, "skipped", None, "in NEW only")
    elif pair.new is not None and pair.base.status in FAILED and pair.new.status in FAILED:
        _child(case, "skipped", None, f"{pair.base.status} in BASE, {pair.new.status} in NEW")


def _suite(root: ElementTree.Element, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(root, "testsuite", name=_clean(name))


def _case(suite: ElementTree.Element, label: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=_clean(label), name=_clean(name))


def _fail(case: ElementTree.Element, finding: Finding) -> None:
    text = f"{finding.method} on {wording.about(finding)}: {wording.sentence(finding)}"
    _child(case, "failure", str(finding.kind), text)


def _child(case: ElementTree.Element, tag: str, kind: str | None, message: str) -> None:
    child = ElementTree.SubElement(case, tag, message=_clean(message))
    if kind is not None:
        child.set("type", kind)


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
