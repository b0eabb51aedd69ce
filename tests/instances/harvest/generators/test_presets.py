"""Presets of the paper's clusters: they are there, and their parameters make sense."""

from dataclasses import fields

import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest.generators.replay import PRESETS, Preset, find_preset


def test_all_eight_clusters_are_there():
    assert [name for name in PRESETS if len(name) == 2] == [f"C{k}" for k in range(1, 9)]
    assert find_preset("C2") is PRESETS["C2"]


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_shares_are_shares(preset):
    for share in (preset.doubled, preset.spread, preset.same_server, preset.base_mean):
        assert 0 <= share <= 1
    assert preset.choices >= 1
    assert preset.most_vms >= 1
    assert all(getattr(preset, field.name) >= 0 for field in fields(Preset))


def test_unknown_names_are_refused():
    with pytest.raises(InstanceError, match="there is no cluster 'C0'; known are C1, C2"):
        find_preset("C0")
