"""Families outside of the package, known for as long as a test asks for them, and to no other test."""

from __future__ import annotations

import sys
from contextlib import contextmanager

from schedgap.bench.plugins.families import load_family
from schedgap.bench.plugins.files import family_hash
from schedgap.instances.documents import DOCUMENTS
from schedgap.instances.family import FAMILIES
from schedgap.instances.method import REGISTRY

KNOWN = (FAMILIES, REGISTRY, DOCUMENTS, sys.modules)


@contextmanager
def forgotten():
    """Forget at the end what was registered and imported meanwhile."""
    before, path = [dict(known) for known in KNOWN], list(sys.path)
    try:
        yield
    finally:
        for known, old in zip(KNOWN, before, strict=True):
            families = {name.partition(".")[0] for name in _modules(known, old)} if known is sys.modules else set()
            for key in known.keys() - old.keys():
                # Modules of packages cannot all be imported twice.
                if known is not sys.modules or key.partition(".")[0] in families:
                    del known[key]
        sys.path[:] = path
        family_hash.cache_clear()


def _modules(known, old):
    """Return new modules that lie in no installed package."""
    for name in known.keys() - old.keys():
        file = getattr(known[name], "__file__", None) or "site-packages"
        if "site-packages" not in file and "/lib/python" not in file and not name.startswith("schedgap"):
            yield name


class Outside:
    """A family of a file, and its methods by name."""

    def __init__(self, path):
        before = [dict(known) for known in KNOWN]
        with forgotten():
            self.family = load_family(path)
            self.module = sys.modules[self.family.instance.__module__]
            self._own = [
                {key: known[key] for key in known.keys() - old.keys()} for known, old in zip(KNOWN, before, strict=True)
            ]
        self.methods = {key[1]: each for key, each in sorted(self._own[1].items())}

    @contextmanager
    def known(self):
        """Have it known until the end."""
        with forgotten():
            for known, own in zip(KNOWN, self._own, strict=True):
                known.update(own)
            yield self.module
