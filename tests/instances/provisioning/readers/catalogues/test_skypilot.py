"""SkyPilot's catalogues of Google: a host's row is its own price, and accelerators have rows of their own."""

from fractions import Fraction

import pytest

from schedgap.instances.provisioning.readers.catalogues import read_catalogue

HEADER = (
    "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,AvailabilityZone,Price,SpotPrice\n"
)
ACCELERATORS = ",,,H100,8,H100,r,r-a,78.4,20\n,,,H200,8,H200,r,r-a,72.5,20\n,,,B200,8,B200,r,r-a,85,20\n"


@pytest.fixture
def listed(tmp_path):
    """Read rows of one region: `listed(*rows)`."""

    def listed(*rows, accelerators=ACCELERATORS):
        (tmp_path / "vms.csv").write_text(HEADER + "".join(f"{row}\n" for row in rows) + accelerators)
        return read_catalogue(tmp_path / "vms.csv")

    return listed


def google(name, price="9.5", spot="2", cpus="208", gib="1872"):
    return f"{name},{cpus},{gib},,,,r,r-a,{price},{spot}"


@pytest.mark.parametrize(
    ("name", "host", "price"),
    [
        ("a3-highgpu-8g", "9.5", "87.9"),
        ("a3-edgegpu-8g", "9.5", "87.9"),
        ("a3-ultragpu-8g-nolssd", "12.266", "84.766"),
        ("a4-highgpu-8g", "0.0", "85"),
        ("a4-highgpu-8g-lowmem", "0.0", "85"),
    ],
)
def test_a_host_costs_what_comes_with_it(listed, name, host, price):
    """A machine whose whole price is that of its accelerators has a host of price 0."""
    (kind,) = listed(google(name, host)).types
    assert (kind.price("on-demand"), kind.capacity["gpu"]) == (Fraction(price), 8000)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("a5-hypergpu-8g", "it is not known which accelerators they have"),
        ("g4-standard-48", "it is not known which accelerators they have"),
        ("ct6e-standard-4t", "it is not known which accelerators they have"),
        ("g2-custom-4-16384", "it is not known which accelerators they have"),
        ("a2-highgpu-2g", "the price of their accelerators is not there"),
    ],
)
def test_a_host_is_never_sold_alone(listed, name, reason):
    """What looks like a machine with accelerators and has no price of them is left out, and named."""
    catalogue = listed(google(name), google("e2-highmem-8", "0.36", cpus="8", gib="64"))
    assert [kind.name for kind in catalogue.types] == ["e2-highmem-8"]
    assert f"vms.csv: left out, as {reason}: {name}." in catalogue.notes


def test_a_machine_without_a_price_is_named(listed):
    catalogue = listed(google("m", "0", ""), google("n", "1", ""))
    assert "vms.csv: left out, as they have no price: m." in catalogue.notes


def test_accelerators_that_are_in_no_price_are_named(listed):
    """A T4 can be had with machines of N1, which are sold without it as well."""
    catalogue = listed(google("n1-standard-4", "0.19", "", "4", "15"), accelerators=",,,T4,1,T4,r,r-a,0.35,\n")
    assert catalogue.notes == (
        "vms.csv: accelerators that are in no machine's price: T4; give machines that have them in a list of your own.",
    )


def test_a_row_without_a_size_has_none(listed):
    (kind,) = listed("odd,,64,,,,r,r-a,1,", accelerators="").types
    assert kind.capacity == {"ram_bytes": 64 * 2**30, "gpu": 0}


def test_of_one_name_with_several_sizes_the_most_counts(listed):
    rows = [f"odd,8,64,L4,{number},,r,r-{number},1," for number in (1, 2)]
    (kind,) = listed(*rows, accelerators="").types
    assert kind.capacity["gpu"] == 2000


@pytest.mark.parametrize(
    ("accelerator", "gpu_name", "gpus"),
    [
        ("L4,0.125,", "nvidia.com/gpu", 1000),
        ("V100,1,", "nvidia.com/gpu", 1000),
        ("V710,1,", "amd.com/gpu", 1000),
        ("Instinct,1,\"{'Gpus': [{'Manufacturer': 'AMD'}]}\"", "amd.com/gpu", 1000),
        ("Gaudi HL-205,8,", "nvidia.com/gpu", None),
    ],
)
def test_makes_and_parts(listed, accelerator, gpu_name, gpus):
    (kind,) = listed(f"odd,8,64,{accelerator},r,r-a,1,", accelerators="").types
    assert (kind.gpu_name, kind.capacity.get("gpu")) == (gpu_name, gpus)
    is_known = not accelerator.startswith(("L4", "Gaudi"))
    assert ("karpenter.k8s.aws/instance-gpu-count" in kind.labels) == is_known
