"""Families outside of the package, known for as long as a test asks for them, and to no other test."""

from __future__ import annotations

import sys
from contextlib import contextmanager

from schedgap.bench.plugins.discover import load_family
from schedgap.bench.plugins.files import family_hash
from schedgap.instances.documents import DOCUMENTS
from schedgap.instances.family import FAMILIES
from schedgap.instances.method import REGISTRY

# What is registered, by what tells of an entry the module that did it.
KNOWN = (
    (FAMILIES, lambda family: family.instance.__module__),
    (REGISTRY, lambda method: method.module),
    (DOCUMENTS, lambda document: getattr(document.make, "__module__", "schedgap")),
)


def _of_others():
    """Return what is registered by modules that are not of the package, and these modules themselves."""
    found = [{key: each for key, each in known.items() if not _is_ours(by(each))} for known, by in KNOWN]
    own = {key: each for key, each in sys.modules.items() if not _is_ours(key) and not _is_installed(each)}
    return [*found, own]


def _is_ours(module):
    return module.partition(".")[0] == "schedgap"


def _is_installed(module):
    file = getattr(module, "__file__", None) or "site-packages"
    return "site-packages" in file or "/lib/python" in file


def _registries():
    return [*(known for known, _ in KNOWN), sys.modules]


@contextmanager
def forgotten():
    """Forget at the end what others registered and imported meanwhile."""
    before, path = _of_others(), list(sys.path)
    try:
        yield
    finally:
        for known, old, now in zip(_registries(), before, _of_others(), strict=True):
            for key in now.keys() - old.keys():
                del known[key]
        sys.path[:] = path
        family_hash.cache_clear()


class Outside:
    """A family of a file, and its methods by name."""

    def __init__(self, path):
        before = _of_others()
        with forgotten():
            self.family = load_family(path)
            self.module = sys.modules[self.family.instance.__module__]
            self._own = [
                {key: now[key] for key in now.keys() - old.keys()}
                for now, old in zip(_of_others(), before, strict=True)
            ]
        self.methods = {key[1]: each for key, each in sorted(self._own[1].items())}

    @contextmanager
    def known(self):
        """Have it known until the end, and yield its module."""
        with forgotten():
            for known, own in zip(_registries(), self._own, strict=True):
                known.update(own)
            yield self.module
