"""Job accounting of Slurm (`sacct --parsable2`), for every family that jobs of a cluster make an instance of."""

from schedgap.instances.slurm.log import Job, Log, core_hours, kind_note, read_log

__all__ = ["Job", "Log", "core_hours", "kind_note", "read_log"]
