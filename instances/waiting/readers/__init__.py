"""Readers of job logs."""

from schedgap.instances.waiting.readers.lsf import lsf_csv
from schedgap.instances.waiting.readers.slurm import slurm
from schedgap.instances.waiting.readers.swf import swf

__all__ = ["lsf_csv", "slurm", "swf"]
