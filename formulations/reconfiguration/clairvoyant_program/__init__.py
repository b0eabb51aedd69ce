"""All plans of a small instance at once, by one integer program."""

from schedgap.formulations.reconfiguration.clairvoyant_program.method import clairvoyant_program

__all__ = ["clairvoyant_program"]
