import os
import subprocess
import sys

import pytest

from skerry.model.cache_folder import find_cache_folder, name_cache_folder


@pytest.fixture(autouse=True)
def _own_folders(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))


def test_cache_is_the_users(tmp_path):
    assert find_cache_folder() == tmp_path / "caches" / "skerry"


def test_cache_is_temporary_and_private_where_the_users_cannot_be_written(tmp_path):
    (tmp_path / "caches").write_text("in the way")
    found = find_cache_folder()
    assert found.parent == tmp_path
    assert found.stat().st_mode & 0o777 == 0o700


def test_temporary_cache_that_others_can_write_is_not_used(tmp_path):
    (tmp_path / "caches").write_text("in the way")
    open_to_all = tmp_path / f"skerry-cache-{os.getuid()}"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    assert find_cache_folder() != open_to_all


def test_user_without_a_home_has_no_cache_of_his_own(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert name_cache_folder() is None
    assert find_cache_folder().parent == tmp_path


def test_full_disk_is_no_folder_to_keep_things_in(tmp_path):
    environment = {"PATH": "", "XDG_CACHE_HOME": str(tmp_path / "full"), "TMPDIR": str(tmp_path)}
    program = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    program += "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); "
    program += "from skerry.model.cache_folder import find_cache_folder; print(find_cache_folder())"
    environment["PYTHONPATH"] = ":".join(sys.path)
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(tmp_path / f"skerry-cache-{os.getuid()}")
