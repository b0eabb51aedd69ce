"""Fixtures shared by all tests: the paper's worked example, tiny random instances, the real trace where it is there."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from schedgap.instances.provisioning import ProvisioningInstance, table3
from schedgap.instances.provisioning.running import Running

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from schedgap.instances.reconfiguration import ReconfigurationInstance

ROOT = Path(__file__).resolve().parent.parent
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# Controls whose text is wider than they are; of a choice, the option that is shown.
CUT = """
const drawn = document.createElement('canvas').getContext('2d');
const wide = (node) => {
  const style = getComputedStyle(node);
  const room = node.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  if (node.tagName !== 'SELECT') return node.scrollWidth - node.clientWidth;
  drawn.font = style.font;
  return drawn.measureText(node.selectedOptions[0].text).width - room;
};
return [...document.querySelectorAll('button, select, input')]
  .filter((node) => node.checkVisibility() && wide(node) > 1)
  .map((node) => `${node.outerHTML.slice(0, 200)} by ${wide(node)}`);
"""


def pytest_configure() -> None:
    """Print as into a pipe: the workers of pytest-xdist are told of a terminal of 80 columns."""
    os.environ.pop("COLUMNS", None)


@pytest.fixture(scope="session", autouse=True)
def _plugins_of_tests_may_write(tmp_path_factory):
    """Many tell a test by a file what they did; one value for all, since runs of another environment are forked anew."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCHEDGAP_MAY_WRITE", str(tmp_path_factory.getbasetemp()))
        yield


@pytest.fixture(scope="session")
def paper_example() -> ProvisioningInstance:
    """Eva's Table 3."""
    return table3()


@pytest.fixture(scope="session")
def alibaba_csv() -> Path:
    """The real pod list; set SCHEDGAP_TRACES to a folder that holds alibaba-gpu-v2023/openb_pod_list_default.csv."""
    folder = Path(os.environ.get("SCHEDGAP_TRACES", ROOT.parent / "shared" / "traces"))
    path = folder / "alibaba-gpu-v2023" / "openb_pod_list_default.csv"
    if not path.exists():
        pytest.skip(f"the Alibaba trace is not there (SCHEDGAP_TRACES={folder})")
    return path


@pytest.fixture(scope="session")
def two_families() -> ProvisioningInstance:
    """Two machine families, three types, three classes; `b` asks less on `y`, `c` may run on `x` alone.

    Five tasks: a a b c c. Capacities (cpu, gib): x-small (4, 8) $1, x-large (8, 16) $1.9, y-small (4, 4) $0.7.
    """
    gib = 1024
    return ProvisioningInstance(
        name="two-families",
        resources=("cpu", "ram_gib"),
        families=("x", "y"),
        type_names=("x-small", "x-large", "y-small"),
        type2family=np.array([0, 0, 1]),
        capacity=np.array([[4000, 8 * gib], [8000, 16 * gib], [4000, 4 * gib]]),
        price=np.array([1_000_000, 1_900_000, 700_000]),
        demand=np.array(
            [
                [[2000, 2 * gib], [4000, 2 * gib], [3000, 8 * gib]],
                [[2000, 2 * gib], [2000, 2 * gib], [-1, -1]],
            ]
        ),
        counts=np.array([2, 1, 2]),
        class_names=("a", "b", "c"),
    )


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


# Tests import them when they are collected.
for helper in ("outside", "weeks"):
    _module(Path(__file__).with_name(f"{helper}.py"))


@pytest.fixture(scope="session")
def mutation() -> ModuleType:
    """The module `mutation.py` beside this file: damage to files."""
    return _module(Path(__file__).with_name("mutation.py"))


@pytest.fixture(scope="session")
def least_refused() -> Callable[..., int | None]:
    """The least value that a tiny placement instance must refuse, by trying everything."""
    least: Callable[..., int | None] = _module(Path(__file__).parent / "oracles" / "placement.py").optimum
    return least


@pytest.fixture(scope="session")
def begun() -> Callable[..., ReconfigurationInstance]:
    """Makes a random start for an instance of reconfiguration: machines, and jobs that have come by then on some of them."""

    def made(
        instance: ReconfigurationInstance, seed: int, most: int = 3, share: float = 0.8
    ) -> ReconfigurationInstance:
        rng, catalogue = np.random.default_rng(seed), instance.catalogue
        kinds = rng.integers(0, catalogue.num_types, rng.integers(1, most + 1))
        arrival_s = np.maximum(instance.arrival_s - np.median(instance.arrival_s).astype(int), 0)
        content, free = np.zeros((kinds.size, instance.num_jobs), np.int64), catalogue.capacity[kinds].copy()
        for j in np.flatnonzero((arrival_s == 0) & (rng.random(instance.num_jobs) < share)).tolist():
            demand = catalogue.demand[catalogue.type2family[kinds], instance.job2class[j]]
            before, there = free.copy(), np.zeros(kinds.size, np.int64)
            for e in rng.integers(0, kinds.size, instance.num_tasks[j]).tolist():
                free[e] -= demand[e]
                there[e] += 1
            if (demand[there > 0] >= 0).all() and (free >= 0).all():
                content[:, j] = there
            else:
                free = before
        running = Running.from_contents([f"node-{e}" for e in range(kinds.size)], kinds, content)
        return instance.replace(arrival_s=arrival_s, running=running)

    return made


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    binary = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("chromium and chromedriver are not installed (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield chrome
    chrome.quit()


@pytest.fixture
def show(browser):
    """Give the browser's window a size and a theme."""

    def set_up(width, height, theme):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": theme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    return set_up


@pytest.fixture
def settle(browser):
    """Wait until a scroll has been drawn: tips go away with it."""
    script = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)))"
    return lambda: browser.execute_async_script(script)


@pytest.fixture
def complaints(browser):
    """Return what is wrong with the open page: errors, what is wider than the window, cut controls, what axe finds."""
    axe_core = pytest.importorskip("axe_core_python.selenium", reason="axe-core-python is not installed")

    def find():
        page_width, inside = "document.documentElement.scrollWidth", "document.documentElement.clientWidth"
        wider = browser.execute_script(f"return {page_width} - {inside}")
        found = axe_core.Axe().run(browser)
        assert found["passes"]
        severe = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
        return [
            *browser.get_log("browser"),
            *([f"{wider} pixels wider than the window"] if wider else []),
            *browser.execute_script(CUT),
            *((one["id"], node["html"][:200]) for one in severe for node in one["nodes"]),
        ]

    return find
