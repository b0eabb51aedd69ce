"""Readers of job logs."""

from schedgap.instances.waiting.readers.job_lists import lsf_csv, slurm
from schedgap.instances.waiting.readers.swf import swf

__all__ = ["lsf_csv", "slurm", "swf"]
