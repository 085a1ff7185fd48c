"""The notebooks among the examples run from top to bottom, as a person would run them, and end in a picture."""

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore")  # of Jupyter's own
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_notebook_runs_and_draws(notebook, tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "jupyter"))
    document = nbformat.read(notebook, as_version=4)
    NotebookClient(document, timeout=550, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in document.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not any(output.output_type == "error" for output in outputs)
    text = "".join(output.text for output in outputs if output.output_type == "stream" and output.name == "stdout")
    assert text.startswith("1200 readings, 120 averages, ")


def test_there_is_a_notebook_and_it_holds_no_outputs():
    assert NOTEBOOKS
    for notebook in NOTEBOOKS:
        cells = [cell for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "code"]
        assert all(not cell.outputs and cell.execution_count is None for cell in cells)
