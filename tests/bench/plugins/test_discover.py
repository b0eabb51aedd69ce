"""Plug-in files."""

import sys

import pytest

from schedgap.bench.plugins.discover import import_plugins
from schedgap.instances.errors import MethodError
from schedgap.instances.method import REGISTRY

TEN_LINES = """
from beside import LUCK
from schedgap.instances.method import method

print("hello from a plug-in")

@method("x-{name}", family="provisioning")
def found(instance):
    return LUCK
"""


@pytest.fixture
def plugin(tmp_path):
    def write(text, name="mine.py"):
        path = tmp_path / name
        path.write_text(text)
        return path

    yield write
    if str(tmp_path) in sys.path:
        sys.path.remove(str(tmp_path))


def test_a_file_may_import_its_neighbours_and_print(plugin, capsys):
    """What it prints goes to stderr: stdout belongs to JSON."""
    plugin("LUCK = 7", "beside.py")
    import_plugins([str(plugin(TEN_LINES.format(name="found")))])
    assert REGISTRY["provisioning", "x-found"].func(None) == 7
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "hello from a plug-in\n")
    del REGISTRY["provisioning", "x-found"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 1\nb = a / 0\n", r"mine.py line 2: ZeroDivisionError: division by zero"),
        ("a = 1\nb = = 2\n", r"mine.py line 2: SyntaxError"),
        ("import sys\nsys.exit(1)\n", r"mine.py line 2: SystemExit: 1"),
        ("import nowhere_to_be_found\n", r"mine.py line 1: ModuleNotFoundError"),
    ],
)
def test_a_file_that_fails(plugin, text, message):
    with pytest.raises(MethodError, match=message):
        import_plugins([str(plugin(text))])


def test_an_interruption_is_not_the_files_fault(plugin):
    """Ctrl-C while a plug-in is imported stays what it is; the file can be loaded later."""
    path = plugin("class Stop(BaseException):\n    pass\nraise Stop\n")
    before = set(sys.modules)
    with pytest.raises(BaseException, match=r"^$") as caught:
        import_plugins([str(path)])
    assert type(caught.value).__name__ == "Stop"
    assert set(sys.modules) == before


def test_no_file(tmp_path):
    with pytest.raises(MethodError, match="is no file; give the path of a Python file"):
        import_plugins([str(tmp_path / "none.py")])
