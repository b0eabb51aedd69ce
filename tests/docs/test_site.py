"""The site in a browser: each page in one of four looks, so that all looks are seen."""

import os
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOOKS = [(1280, "light"), (1280, "dark"), (375, "light"), (375, "dark")]


class Quiet(SimpleHTTPRequestHandler):
    """Says nothing of what it is asked for."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The address of the site, and the paths of its pages."""
    pytest.importorskip("mkdocs", reason="needs schedgap[docs]")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", folder]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, check=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    pages = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
    yield f"http://127.0.0.1:{server.server_port}", pages
    server.shutdown()
    server.server_close()


def test_everybody_can_read_it(site, browser, show, settle, complaints):
    address, pages = site
    assert len(pages) > 30
    browser.get("about:blank")
    browser.get_log("browser")
    wrong = {}
    for name, (width, theme) in zip(pages, cycle(LOOKS), strict=False):
        show(width, 800, theme)
        browser.get(f"{address}/{name}")
        settle()
        if found := complaints():
            wrong[name, width, theme] = found
    assert wrong == {}
