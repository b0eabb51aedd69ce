"""Which executors there are, and what is said of those that are not."""

import importlib

import pytest

from schedgap.bench.executors.execute import open_executor
from schedgap.bench.plan import setting
from schedgap.instances.errors import ExecutorError

PLACE = setting("provisioning", (), 1)


@pytest.mark.parametrize(("name", "package"), [("dask", "distributed"), ("ray", "ray"), ("slurm", "submitit")])
def test_package_that_is_not_installed(monkeypatch, name, package):
    def fail(module):
        raise ModuleNotFoundError(f"No module named '{package}'", name=package)

    monkeypatch.setattr(importlib, "import_module", fail)
    with pytest.raises(ExecutorError) as refusal, open_executor(name, PLACE, None, "tcp://127.0.0.1:9"):
        pass
    assert str(refusal.value) == (
        f"executor {name} needs the package '{package}', which is not installed; pip install 'schedgap[{name}]'."
    )


def test_names_and_addresses():
    with (
        pytest.raises(ExecutorError, match="no executor 'kubernetes'; there are process, dask, ray, slurm"),
        open_executor("kubernetes", PLACE),
    ):
        pass
    with (
        pytest.raises(ExecutorError, match="takes no address, 'x' was given"),
        open_executor("process", PLACE, None, "x"),
    ):
        pass
