"""Clusters and price lists that something has damaged: an instance, or one sentence. SCHEDGAP_MUTATIONS sets how many."""

import json
import os
from random import Random

import pytest

from schedgap.instances.errors import SchedgapError
from schedgap.instances.provisioning import csv_tables, kubernetes
from schedgap.instances.provisioning.readers.catalogues import read_catalogue

NUMBER = int(os.environ.get("SCHEDGAP_MUTATIONS", "300"))
VOLUMES = [
    {
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data-cache-0", "namespace": "shop"},
        "spec": {"volumeName": "v"},
    },
    {
        "kind": "PersistentVolume",
        "metadata": {"name": "v"},
        "spec": {
            "nodeAffinity": {
                "required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}
            }
        },
    },
]


def refusals(make, read, number=NUMBER):
    """Return how many of the damaged inputs are refused; nothing else may go wrong."""
    refused = 0
    for seed in range(number):
        make(Random(seed))
        try:
            instance = read()
        except SchedgapError as error:
            assert "\n" not in str(error)
            assert len(str(error)) < 1500
            refused += 1
        else:
            assert all("\n" not in note for note in getattr(instance, "notes", ()))
    return refused


@pytest.mark.parametrize("parameters", [{}, {"capacity_types": "admitted", "zones": "ignore"}])
def test_damaged_clusters(tmp_path, mutation, sample, k8s, parameters):
    content = json.dumps({"kind": "List", "items": [*sample, *VOLUMES]}).encode()
    (tmp_path / "prices.csv").write_text(k8s.prices)

    def make(random):
        damage = mutation.damaged_bytes if random.random() < 0.2 else mutation.damaged_json
        (tmp_path / "c.json").write_bytes(damage(content, random))

    def read():
        cluster = kubernetes(tmp_path / "c.json", catalogue=str(tmp_path / "prices.csv"), **parameters)
        assert cluster.digest
        return cluster

    assert refusals(make, read) > NUMBER // 8


@pytest.mark.parametrize("name", ["kwok", "ec2", "plain", "skypilot"])
def test_damaged_price_lists(tmp_path, mutation, k8s, name):
    offering = {"Price": 1.5, "Requirements": [{"key": "karpenter.sh/capacity-type", "values": ["spot"]}]}
    kwok = {"name": "a", "offerings": [offering, {"capacityType": "on-demand", "zone": "z", "price": 2}]}
    kwok |= {"architecture": "amd64", "operatingSystems": ["linux"], "resources": {"cpu": "4", "memory": "8Gi"}}
    ec2 = {"InstanceType": "m9z.xlarge", "VCpuInfo": {"DefaultVCpus": 4}, "MemoryInfo": {"SizeInMiB": 16384}}
    ec2 |= {"ProcessorInfo": {"SupportedArchitectures": ["x86_64"]}, "GpuInfo": {"Gpus": [{"Count": 1}]}}
    header = "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,Region,Price"
    skypilot = f"{header}\nm,2.0,8,,,r,0.1\na2-highgpu-1g,2,8,,,r,1\n,,,A100,1,r,3\n"
    contents = {
        "kwok": json.dumps([kwok]),
        "ec2": json.dumps({"InstanceTypes": [ec2]}),
        "plain": k8s.prices,
        "skypilot": skypilot,
    }
    content = contents[name].encode()
    (tmp_path / "prices.csv").write_text(k8s.prices)
    prices = {"prices": tmp_path / "prices.csv"} if name == "ec2" else {}

    def make(random):
        damage = mutation.damaged_json if name in ("kwok", "ec2") and random.random() < 0.7 else mutation.damaged_bytes
        (tmp_path / "list").write_bytes(damage(content, random))

    assert refusals(make, lambda: read_catalogue(tmp_path / "list", **prices)) > NUMBER // 8


def test_damaged_tables(tmp_path, mutation):
    texts = {
        "machines": "name,cpu,ram_gib,price,family,count,fee\nsmall,4,8,0.1,a,,0.01\nbig,16,60,0.4,b,3,\n",
        "tasks": "name,count,cpu,ram_gib,families,machine\nx,2,1,1.5,,n1\ny,3,0.25,0.25,b,\n",
        "running": "name,type\nn1,big\n",
    }
    paths = {name: str(tmp_path / name) for name in texts}

    def make(random):
        chosen = random.choice(sorted(texts))
        for name, text in texts.items():
            damaged = mutation.damaged_bytes(text.encode(), random) if name == chosen else text.encode()
            (tmp_path / name).write_bytes(damaged)

    assert refusals(make, lambda: csv_tables(**paths)) > NUMBER // 8
