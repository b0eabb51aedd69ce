"""The optimum with the future known, by branch and bound over all plans."""

from schedgap.formulations.reconfiguration.clairvoyant.search import clairvoyant

__all__ = ["clairvoyant"]
