"""JSON documents, stated once as parts and fields, by which they are read, checked and written."""

from schedgap.instances.documents.document import (
    DOCUMENTS,
    Custom,
    Group,
    InstanceDocument,
    SolutionDocument,
    Value,
)
from schedgap.instances.documents.fields import (
    Amounts,
    Field,
    Given,
    Lookup,
    Place,
    RowPart,
    Table,
    list_of,
    optional_names,
    record,
)
from schedgap.instances.documents.json_files import Amount, Count, Index, Positive
from schedgap.instances.documents.tables import Array, Columns, Rows, Stored, inline_up_to

__all__ = [
    "DOCUMENTS",
    "Amount",
    "Amounts",
    "Array",
    "Columns",
    "Count",
    "Custom",
    "Field",
    "Given",
    "Group",
    "Index",
    "InstanceDocument",
    "Lookup",
    "Place",
    "Positive",
    "RowPart",
    "Rows",
    "SolutionDocument",
    "Stored",
    "Table",
    "Value",
    "inline_up_to",
    "list_of",
    "optional_names",
    "record",
]
