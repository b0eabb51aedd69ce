"""Fairness instances as JSON files, schema `schedgap/fairness/1`.

Numbers are written as people write them (cores, GiB, performance 1.5) and converted exactly to integer units. Above 2,000
users their arrays go to an `.npz` file beside the JSON file, in integer units.
"""

from __future__ import annotations

from schedgap.instances.documents import Array, Count, Field, InstanceDocument, Rows, Stored, Value
from schedgap.instances.fairness.file_parts import SHARED_MACHINES, sharer_fields
from schedgap.instances.fairness.model import UNLIMITED, FairnessInstance

INSTANCE = InstanceDocument(
    "schedgap/fairness/1",
    FairnessInstance,
    *SHARED_MACHINES,
    Value("notes", list[str], default=(), omitted=True),
    Stored(
        "users",
        Rows(
            "users",
            *sharer_fields("user_names"),
            # Without it a user has more than fit.
            Field("tasks", Count, default=UNLIMITED, omitted=True),
            label="user",
        ),
        arrays=[
            *(Array("demand", 2), Array("weight"), Array("performance", 2), Array("allowed", 2), Array("tasks")),
            Array("user_names", text=True, optional=True),
        ],
        size=lambda instance: instance.num_users,
        inline=2_000,
    ),
)
read_instance, write_instance = INSTANCE.read, INSTANCE.write
