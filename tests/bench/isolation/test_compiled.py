"""Compiled code is no way into the judge: what runs may write is never what the harness, a server or a judge loads."""

import shutil

import pytest

from schedgap.bench import run_suite
from schedgap.bench.executors.execute import close_pools
from schedgap.bench.isolation.handle import end_spawners
from schedgap.instances import compiled_cache


@pytest.fixture
def command(tmp_path, monkeypatch, hostile, write_suite):
    """Run a suite as a command of its own would, by new processes: `command(["no-packing"])`; measurements by label."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    plugin = shutil.copy(hostile.with_name("poison.py"), tmp_path)
    (tmp_path / "places.txt").write_text(str(tmp_path / "numba"))
    outs = iter(range(10))

    def run(methods, *, is_new=True, **options):
        if is_new:
            monkeypatch.setattr(compiled_cache, "LEDGER", compiled_cache.Ledger())
            for module in ("handle", "pool", "spawner"):
                monkeypatch.setattr(f"schedgap.bench.isolation.{module}.LEDGER", compiled_cache.LEDGER)
        plugins = [plugin] if "p-poison" in methods else []
        result = run_suite(write_suite(methods), out=tmp_path / f"{next(outs)}", plugins=plugins, jobs=1, **options)
        close_pools()
        end_spawners()
        return {record.run.label: record.measurement for record in result.records}

    yield run
    close_pools()
    end_spawners()


def test_what_a_run_rewrites_is_not_loaded_in_the_same_command(command, tmp_path):
    """Every process that is started afterwards loads a kernel (`prepare`); one cannot be told what it is here by a run."""
    assert command(["no-packing"])["no-packing"].status == "feasible"
    honest = compiled_cache._hashes({tmp_path / "numba" / "schedgap"})
    assert honest
    assert command(["p-poison"])["p-poison"].details["written"] > 0
    later = command(["no-packing"], is_new=False)["no-packing"]
    assert later.status == "feasible"
    assert not (tmp_path / "evil").exists()


def test_what_a_plugin_compiles_is_found_by_itself_alone(command, tmp_path):
    place = tmp_path / "numba" / "schedgap"
    (tmp_path / "places.txt").write_text("")
    assert command(["p-poison"])["p-poison"].details["hits"] == 1
    trusted = {path.name for path in place.iterdir() if path.is_file()}
    (kept,) = (place / "foreign").iterdir()
    assert [path.name.split("-")[0] for path in kept.iterdir()] == ["one"]
    assert not {name for name in trusted if name.startswith("one-")}
    plugin = tmp_path / "poison.py"
    plugin.write_text(plugin.read_text() + "\n")
    command(["p-poison"])
    assert len(list((place / "foreign").iterdir())) == 2


def test_what_is_rewritten_later_is_not_loaded_in_a_container(command, tmp_path, real_runexec):
    """There nothing that is trusted can be written, so that later commands are safe, too."""
    place = tmp_path / "numba" / "schedgap"
    assert command(["no-packing"])["no-packing"].status == "feasible"
    before = {path.name: path.read_bytes() for path in place.glob("*.compiled")}
    found = command(["p-poison", "no-packing"], isolation="runexec")
    assert {end.status for end in found.values()} == {"feasible"}
    assert found["p-poison"].details["written"] == 0
    assert {name: (place / name).read_bytes() for name in before} == before
    assert command(["no-packing"])["no-packing"].status == "feasible"
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize(
    ("family", "generator", "methods"),
    [
        ("sharing", ["micro", "tasks=5"], ["drf", "bound-work"]),
        ("reconfiguration", ["eva-synthetic", "jobs=3"], ["eva"]),
    ],
)
def test_all_works_without_a_compiler(schedgap, tmp_path, monkeypatch, family, generator, methods):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    schedgap("generate", family, *generator, "--out", tmp_path / "i.json")
    chosen = [word for method in methods for word in ("--method", method)]
    code, out, err = schedgap("gap", tmp_path / "i.json", *chosen)
    assert (code, "error" in out, err) == (0, False, "")


def test_nowhere_to_write_is_said_once_by_a_command(schedgap, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setattr(compiled_cache, "_COMPLAINTS", [])
    schedgap("generate", "provisioning", "table3", "--out", tmp_path / "i.json")
    code, out, err = schedgap("gap", tmp_path / "i.json", "--method", "no-packing", "--bound", "bound-resource")
    assert (code, "best proven bound 12" in out) == (0, True)
    assert err.startswith("schedgap keeps no compiled code: ")
    assert len(err.splitlines()) == 1
