"""Draw the README's pictures anew: `python docs/images/render.py runs/eva-table4`, of that suite's runs.

The page of `schedgap report`, in headless Chromium, light and dark: the gaps of all runs, and the best solution of the first
instance. Needs what the tests of the page need (Debian: chromium, chromium-driver).
"""

from __future__ import annotations

import base64
import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from selenium import webdriver

FOLDER = Path(__file__).parent
WIDTH, PIXELS = 980, 1.5
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
# The page with nothing on it but its title, one figure and one solution; where that is.
SCRIPT = """
const gaps = [...document.querySelectorAll('#charts figure')].find(e => e.querySelector('h3').textContent === 'Gaps');
const kept = [document.querySelector('h1'), gaps, document.querySelector('.picture')];
document.body.replaceChildren(document.querySelector('.symbols'), ...kept);
document.body.style.cssText = 'padding:16px 24px;margin:0;max-width:none';
gaps.style.margin = '8px 0 24px';
return document.documentElement.scrollHeight;
"""


def main(runs: str, folder: str | Path = FOLDER) -> None:
    """Write `report-light.webp` and `report-dark.webp` into a folder, by default beside this file."""
    browser_path, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser_path is None or driver is None:
        sys.exit("chromium and chromedriver are not installed; on Debian: apt-get install chromium chromium-driver.")
    with tempfile.TemporaryDirectory() as scratch:
        page = Path(scratch) / "report.html"
        program = [sys.executable, "-c", "from schedgap.bench.cli.app import main; main()"]
        subprocess.run([*program, "report", runs, "--html", str(page)], check=True)
        options = webdriver.ChromeOptions()
        options.binary_location = browser_path
        for flag in (*FLAGS, f"--user-data-dir={scratch}/profile"):
            options.add_argument(flag)
        browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        try:
            for theme in ("light", "dark"):
                _draw(browser, page, theme, Path(folder) / f"report-{theme}.webp")
        finally:
            browser.quit()


def _draw(browser: webdriver.Chrome, page: Path, theme: str, target: Path) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    )
    size = {"width": WIDTH, "height": 400, "deviceScaleFactor": PIXELS, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page.as_uri())
    height = browser.execute_script(SCRIPT)
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**size, "height": height})
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
    Image.open(io.BytesIO(base64.b64decode(shot))).convert("RGB").save(target, lossless=True, method=6)
    print(f"wrote {target} ({target.stat().st_size // 1000} kB)")


if __name__ == "__main__":
    main(*sys.argv[1:])
