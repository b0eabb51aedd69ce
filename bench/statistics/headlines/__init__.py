"""Headlines: the tables that answer a suite's question, one module each; `registry` names them."""

from schedgap.bench.statistics.headlines.headline import Column, Headline, Row
from schedgap.bench.statistics.headlines.registry import (
    HEADLINES,
    check_headline,
    find_headline,
    headline_rows,
    suite_json,
    table_rows,
)

__all__ = [
    "HEADLINES",
    "Column",
    "Headline",
    "Row",
    "check_headline",
    "find_headline",
    "headline_rows",
    "suite_json",
    "table_rows",
]
