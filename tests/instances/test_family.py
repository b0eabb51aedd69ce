"""Families are known by name, and each name once."""

from dataclasses import replace

import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.family import FAMILIES, find_family, register_family
from schedgap.instances.provisioning import PROVISIONING


def test_a_name_is_registered_once():
    assert register_family(replace(PROVISIONING)) == PROVISIONING
    with pytest.raises(InstanceError, match="family provisioning is registered twice, with different content"):
        register_family(replace(PROVISIONING, objective_unit="EUR/h"))
    assert find_family("provisioning").objective_unit == "$/h"


def test_an_unknown_family():
    assert "knitting" not in FAMILIES
    with pytest.raises(InstanceError, match="there is no family 'knitting'; known are "):
        find_family("knitting")
