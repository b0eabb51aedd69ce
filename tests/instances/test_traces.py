import http.server
import threading
from functools import partial

import pytest

from schedgap.instances import InstanceError, fetch
from schedgap.instances.traces import TRACES


@pytest.fixture
def server(tmp_path):
    """Serve tmp_path/site on loopback."""
    site = tmp_path / "site"
    site.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    yield site, f"http://127.0.0.1:{httpd.server_address[1]}"
    httpd.shutdown()
    httpd.server_close()
    thread.join()


def test_fetches_and_keeps_the_real_file(server, alibaba_csv, tmp_path):
    site, url = server
    copy = site / "openb_pod_list_default.csv"
    copy.write_bytes(alibaba_csv.read_bytes())
    path = fetch("alibaba-gpu-v2023", tmp_path / "cache", base_url=url)
    assert path.read_bytes() == alibaba_csv.read_bytes()
    copy.unlink()
    assert fetch("alibaba-gpu-v2023", tmp_path / "cache", base_url=url) == path


def test_another_checksum_is_refused_and_nothing_kept(server, tmp_path):
    site, url = server
    (site / "openb_pod_list_default.csv").write_text("not the trace")
    with pytest.raises(InstanceError, match=r"does not have the SHA-256 1ee7ed79c27a"):
        fetch("alibaba-gpu-v2023", tmp_path / "cache", base_url=url)
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_no_such_file_trace_or_server(server, tmp_path):
    _, url = server
    with pytest.raises(InstanceError, match="could not be downloaded"):
        fetch("alibaba-gpu-v2023", tmp_path / "cache", base_url=url)
    with pytest.raises(InstanceError, match="could not be downloaded"):
        fetch("alibaba-gpu-v2023", tmp_path / "cache", base_url="http://127.0.0.1:9")
    with pytest.raises(InstanceError, match="there is no trace 'x'; known are alibaba-gpu-v2023"):
        fetch("x")


def test_every_trace_names_a_reader():
    import schedgap.instances.fairness
    import schedgap.instances.provisioning
    import schedgap.instances.waiting  # noqa: F401 - registers the family
    from schedgap.instances import find_family

    for trace in TRACES.values():
        assert trace.importer in find_family(trace.family).importers
        assert len(trace.sha256) == 64
