"""Labels that follow from a machine's name and size; what may be otherwise is no label, or has several values."""

from fractions import Fraction

import pytest

from schedgap.instances.provisioning.readers.catalogues.catalogue import gpu_values, size_labels, type_labels

AWS, AZURE = "karpenter.k8s.aws/instance-", "karpenter.azure.com/sku-"


@pytest.mark.parametrize(
    ("arch", "system", "known"),
    [
        ("x86_64", "Linux/UNIX", ({"amd64"}, {"linux"})),
        ("ARM64", "Windows", ({"arm64"}, {"windows"})),
        ("x86_64_mac", "macos", (None, None)),
        ("", "", (None, None)),
    ],
)
def test_words_of_clouds_are_those_of_kubernetes_or_none(arch, system, known):
    labels = type_labels("own", arch, system)
    assert tuple(labels.get(f"kubernetes.io/{key}") for key in ("arch", "os")) == known


def test_a_graviton_of_which_nothing_is_said_is_arm64():
    assert type_labels("m7gd.large")["kubernetes.io/arch"] == {"arm64"}
    assert "kubernetes.io/arch" not in type_labels("g6f.large") | type_labels("own-5g")


def test_sizes():
    labels = size_labels(Fraction(4), Fraction(15616), 2)
    for key in (f"{AWS}cpu", "eks.amazonaws.com/instance-cpu", f"{AZURE}cpu", "karpenter.kwok.sh/instance-cpu"):
        assert labels[key] == {"4"}
    assert [labels[f"{AWS}memory"], labels[f"{AZURE}memory"], labels[f"{AWS}gpu-count"]] == [{"15616"}] * 2 + [{"2"}]


def test_what_a_system_left_of_a_machine_is_no_label():
    """3.92 CPUs and 14.3 GiB are what pods can have, not what the machine is called."""
    assert size_labels(Fraction("3.92"), Fraction("14643.2"), None) == {}
    assert size_labels(None, Fraction(15011), None) == {}


def test_memory_in_whole_gib_may_be_rounded():
    """15.25 GiB are 15616 MiB, and 15 or 16 in a list of whole GiB; that it is between 14 and 17 is certain."""
    for gib in (15, 16):
        values = size_labels(None, Fraction(1024 * gib), None, rounded=True)[f"{AWS}memory"]
        assert "15616" in values
        assert all(14 * 1024 < int(value) < 17 * 1024 for value in values)
    assert size_labels(None, Fraction(15616), None, rounded=True)[f"{AWS}memory"] == {"15616"}


def test_gpus():
    """A machine without any has no label; Azure's Karpenter counts those of NVIDIA alone."""
    assert size_labels(None, None, 0)[f"{AWS}gpu-count"] == {None}
    assert size_labels(None, None, 1, nvidia=False)[f"{AZURE}gpu-count"] == {"1", None}


@pytest.mark.parametrize(
    ("model", "label", "may"),
    [
        ("A100-80GB", "NVIDIA-A100-SXM4-80GB", True),
        ("A100", "nvidia-tesla-a100", True),
        ("H100-MEGA", "NVIDIA-H100-80GB-HBM3", True),
        ("T4", "Tesla-T4-SHARED", True),
        ("RTX6000-Ada", "NVIDIA-RTX-6000-Ada-Generation", True),
        ("A100", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", True),
        ("L40S", "NVIDIA-A100-SXM4-80GB", False),
        ("L40S", "NVIDIA-L40", False),
        ("V100", "NVIDIA-A100-SXM4-80GB", False),
    ],
)
def test_models_of_gpus(model, label, may):
    """A model may be called by any label that holds its name; it may also have another, or none."""
    assert (label in gpu_values(model, [label])) is may
    assert gpu_values(model, []) == {None, "another value"}
