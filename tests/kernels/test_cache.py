"""Compiled kernels belong to the texts they were compiled from."""

import subprocess
import sys
from pathlib import Path

import pytest

from skerry.kernels import _cache


@pytest.fixture
def package(monkeypatch, tmp_path):
    """A package in which ``a`` calls ``b``, and nobody calls ``c``."""
    (tmp_path / "a.py").write_text("from skerry.b import f\n")
    (tmp_path / "b.py").write_text("x = 1\n")
    (tmp_path / "c.py").write_text("y = 1\n")
    monkeypatch.setattr(_cache, "_PACKAGE", tmp_path)
    return tmp_path


def _stamp(package: Path) -> str:
    for cached in (_cache._hash_with_imports, _cache._list_imports, _cache._read):
        cached.cache_clear()
    return _cache._hash_with_imports(package / "a.py")


def test_change_in_a_module_that_is_called_is_another_kernel(package):
    before = _stamp(package)
    (package / "b.py").write_text("x = 2\n")
    assert _stamp(package) != before


def test_change_in_another_module_is_none(package):
    before = _stamp(package)
    (package / "c.py").write_text("y = 2\n")
    assert _stamp(package) == before


def test_user_without_a_folder_to_write_gets_a_temporary_one(tmp_path):
    environment = {"PATH": "", "HOME": "/proc/nowhere", "TMPDIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    subprocess.run([sys.executable, "-c", "import skerry.kernels.hash"], env=environment, check=True)
    assert list(tmp_path.glob("skerry-cache-*/kernels/*hash*"))


def test_kernel_that_cannot_be_kept_is_compiled_all_the_same(tmp_path):
    """Numba keeps no code without optimisation that has dynamic globals: it warns, and names the file."""
    environment = {"PATH": "", "XDG_CACHE_HOME": str(tmp_path), "NUMBA_OPT": "0", "PYTHONPATH": ":".join(sys.path)}
    call = "import numpy as np; from skerry.kernels.index.grid import _find_cells as f; i = np.int64; z = np.zeros"
    call += "; print(f(z((1, 2), i), z(1, i), z((1, 2), i)))"
    done = subprocess.run([sys.executable, "-c", call], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_kernel_runs_where_its_code_cannot_be_written(tmp_path):
    """A limit on the size of files stands for a disk that fills up after the folder was found to be writable."""
    environment = {"PATH": "", "XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    call = "import numpy as np, resource, signal; from skerry.kernels.hash import hash_integers as f"
    call += "; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"
    call += "; print(f(np.zeros(2, np.int64)).size)"
    done = subprocess.run([sys.executable, "-c", call], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr
    assert "a compiled kernel is not kept: File too large" in done.stderr
