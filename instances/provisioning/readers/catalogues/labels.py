"""Labels that follow from what a price list says of a machine: its name, architecture, system and size."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

# The values that each label may have, None among them where it may be missing.
Labels: TypeAlias = "dict[str, frozenset[str | None]]"

ARCH_LABEL, OS_LABEL = "kubernetes.io/arch", "kubernetes.io/os"
# How clouds call what Kubernetes does; of others nothing is known.
ARCHITECTURES = {"x86_64": "amd64", "x86-64": "amd64", "x64": "amd64", "aarch64": "arm64"} | {
    name: name for name in ("amd64", "arm64", "arm", "386", "ppc64le", "s390x", "riscv64")
}
SYSTEMS = {"windows": "windows"} | dict.fromkeys(("linux", "linux/unix", "ubuntu", "rhel", "suse"), "linux")
# Labels of Karpenter's AWS provider and of EKS' own Karpenter.
AWS = ("karpenter.k8s.aws/instance-", "eks.amazonaws.com/instance-")
AZURE = ("karpenter.azure.com/sku-", "kubernetes.azure.com/sku-")
CPU_LABELS = (*(f"{provider}cpu" for provider in (*AWS, *AZURE)), "karpenter.kwok.sh/instance-cpu")
MEMORY_LABELS = tuple(f"{provider}memory" for provider in (*AWS, *AZURE))
AWS_GPUS, AZURE_GPUS = tuple(f"{provider}gpu-count" for provider in AWS), f"{AZURE[0]}gpu-count"
# Labels that name a GPU, each in its own way: NVIDIA-A100-SXM4-80GB, nvidia-tesla-a100, a100.
GPU_LABELS = (
    *("nvidia.com/gpu.product", "cloud.google.com/gke-accelerator", f"{AZURE[0]}gpu-name"),
    *(f"{provider}gpu-name" for provider in AWS),
)
# A value that nobody names: no label has a space.
OTHER = "another value"
ABSENT: frozenset[str | None] = frozenset((None,))
# A type's name, such as c7gn.2xlarge (pkg/providers/instancetype/types.go of Karpenter's AWS provider).
_AWS_NAME = re.compile(r"(([a-z]+)(?:-\d+tb)?(\d+)[a-z0-9-]*)\.([a-z0-9-]+)")
_GRAVITON = re.compile(r"[a-z]+\d+g|a1$")
GIB_MIB = 1024
# Clouds sell memory in steps of so many MiB; what is between is what a system left of it.
STEP_MIB = 128


def type_labels(name: str, arch: str = "", system: str = "") -> Labels:
    """Return the labels that follow from a type's name, architecture and operating system."""
    found = {ARCH_LABEL: ARCHITECTURES.get(arch.lower()), OS_LABEL: SYSTEMS.get(system.lower())}
    if (match := _AWS_NAME.fullmatch(name)) is not None:
        family, category, generation, size = match.groups()
        parts = {"family": family, "category": category, "generation": generation, "size": size}
        found |= {f"{provider}{key}": value for provider in AWS for key, value in parts.items()}
        if not arch and _GRAVITON.match(family):
            found[ARCH_LABEL] = "arm64"
    return {key: frozenset((value,)) for key, value in found.items() if value}


def size_labels(
    cpu: Fraction | None, mib: Fraction | None, gpus: int | None, *, rounded: bool = False, nvidia: bool = True
) -> Labels:
    """Return the labels that follow from a machine's nominal size, None of which is not known.

    A part of a CPU, or memory that no cloud sells, is what a system leaves of a machine, and says nothing of its labels.

    rounded : a whole number of GiB may be any that is rounded to it. nvidia : whether the GPUs are of that make.
    """
    labels: Labels = {}
    if cpu is not None and cpu > 0 and cpu.denominator == 1:
        labels |= dict.fromkeys(CPU_LABELS, frozenset((str(cpu),)))
    if mib is not None and mib > 0 and mib % STEP_MIB == 0:
        values = _rounded_to(int(mib)) if rounded and mib % GIB_MIB == 0 else frozenset((str(mib),))
        labels |= dict.fromkeys(MEMORY_LABELS, values)
    if gpus is not None:
        values = frozenset((str(gpus),)) if gpus else ABSENT
        labels |= dict.fromkeys(AWS_GPUS, values) | {AZURE_GPUS: values if nvidia else values | ABSENT}
    return labels


def gpu_values(model: str, named: Iterable[str]) -> frozenset[str | None]:
    """Return those of some values of a GPU's label that a model may have, with one that nobody names, and none.

    A model is the first word with a number in it, without what tells its memory or make: A100 of A100-80GB.
    """
    words = (_plain(word) for word in re.split(r"[-_ ]", model))
    word = next((word for word in words if any(map(str.isdigit, word))), _plain(model))
    return frozenset((None, OTHER, *(value for value in named if word in _plain(value))))


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


@lru_cache(maxsize=10_000)
def or_absent(values: frozenset[str | None]) -> frozenset[str | None]:
    """Return the values of a label that may be missing: one object for equal ones, which many machines have."""
    return values | ABSENT


@lru_cache(maxsize=1_000)
def _rounded_to(mib: int) -> frozenset[str | None]:
    """Return what memory of less than a GiB more or less may be."""
    return frozenset(map(str, range(mib - GIB_MIB + STEP_MIB, mib + GIB_MIB, STEP_MIB)))
