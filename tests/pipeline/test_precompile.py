import pytest

from skerry.kernels.precompile import PRECOMPILERS
from skerry.pipeline import precompile as precompiling
from skerry.pipeline.precompile import precompile_beside


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_kernels_are_compiled_once_by_other_processes(tmp_path):
    notes = []
    for _ in range(2):
        with precompile_beside(["rules"], notes.append):
            pass
    assert notes == ["compiling rules (once)"]
    assert list(tmp_path.rglob("*.nbc"))


def test_process_that_fails_is_told_and_ends_nothing(caplog):
    with precompile_beside(["shedding by nobody"]):
        pass
    assert "kernels were not compiled ahead" in caplog.text


def test_every_kind_has_its_cost():
    assert {*PRECOMPILERS, "index"} == set(precompiling._SECONDS)
