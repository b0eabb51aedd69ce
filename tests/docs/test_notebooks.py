"""The notebooks, executed: every cell prints what the file shows."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "docs" / "notebooks").glob("*.ipynb"))


def shown(notebook):
    """Return what the cells show as text; what a process says of its own beside that is not kept."""
    return [
        (cell.source, [output.get("text") or output.data["text/plain"] for output in cell.outputs if is_kept(output)])
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def is_kept(output):
    return not (output.output_type == "stream" and output.name == "stderr")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_shows_what_it_computes(path, tmp_path):
    kept = nbformat.read(path, as_version=4)
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, kernel_name="python3", startup_timeout=300, timeout=600, resources=where).execute()
    assert shown(notebook) == shown(kept)
    assert {str(output.get("name")) for cell in kept.cells for output in cell.get("outputs", ())} <= {"None", "stdout"}
