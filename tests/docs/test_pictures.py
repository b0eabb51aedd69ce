"""The script that draws the README's pictures, on a small suite."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

Image = pytest.importorskip("PIL.Image")
pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "images" / "render.py"
SCHEDGAP = [sys.executable, "-c", "from schedgap.bench.cli.app import main; main()"]


@pytest.mark.skipif(
    None in map(shutil.which, ("chromium", "chromedriver")), reason="chromium and chromedriver are not installed"
)
def test_both_pictures_are_drawn(tmp_path):
    """Of the same size, one on white and one on dark ground, each with much in it."""
    runs = tmp_path / "runs"
    chosen = ["-k", "patterns|no-packing", "-k", "table7-12-physical-s0"]
    subprocess.run([*SCHEDGAP, "run", "smoke", *chosen, "--out", str(runs)], check=True, capture_output=True)
    subprocess.run([sys.executable, str(SCRIPT), str(runs), str(tmp_path)], check=True, capture_output=True)
    light, dark = (np.asarray(Image.open(tmp_path / f"report-{theme}.webp")) for theme in ("light", "dark"))
    assert light.shape == dark.shape
    assert (light[0, 0].tolist(), dark[0, 0].tolist()) == ([255, 255, 255], [22, 24, 27])
    assert all(len(np.unique(picture.reshape(-1, 3), axis=0)) > 50 for picture in (light, dark))
