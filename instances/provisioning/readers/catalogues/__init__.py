"""Price lists: which machines there are, and at what price."""

from schedgap.instances.provisioning.readers.catalogues.catalogue import Catalogue, MachineType, Offering
from schedgap.instances.provisioning.readers.catalogues.documents import read_catalogue

__all__ = ["Catalogue", "MachineType", "Offering", "read_catalogue"]
