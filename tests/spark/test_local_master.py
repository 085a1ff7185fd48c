import os
from pathlib import Path

import pytest

from skerry.spark import local_master
from skerry.spark.local_master import allow_retries, protect
from skerry.spark.session import session


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """What is set in the environment is set for a test alone."""
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)


@pytest.mark.parametrize("master", ["local[2,7]", "local-cluster[2,1,1024]", "spark://host:7077", "yarn", "k8s://host"])
def test_master_that_says_how_often_to_try_stays(master):
    assert allow_retries(master) == master


@pytest.mark.parametrize("master", ["spark://host:7077", "yarn", "k8s://https://host"])
def test_cluster_is_told_nothing(master):
    assert protect(master, "-Xss4m") == {}


def test_local_master_listens_on_the_loopback_address_and_keeps_to_a_private_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(local_master, "make_private_folder", lambda: tmp_path)
    settings = protect("local[2,4]", "-Xss4m")
    assert settings["spark.driver.bindAddress"] == settings["spark.driver.host"] == "127.0.0.1"
    assert settings["spark.authenticate"] == "true"
    assert settings["spark.local.dir"] == str(tmp_path)
    assert settings["spark.driver.extraJavaOptions"] == f"-Xss4m '-Djava.io.tmpdir={tmp_path}'"


def test_folder_whose_name_is_too_long_for_sockets_goes_without(monkeypatch):
    monkeypatch.setattr(local_master, "make_private_folder", lambda: Path("/" + "x" * 70))
    assert protect("local[2,4]", "")["spark.python.unix.domain.socket.enabled"] == "false"


def test_secret_of_separate_executors_stands_in_no_command(monkeypatch, tmp_path):
    monkeypatch.setattr(local_master, "make_private_folder", lambda: tmp_path)
    settings = protect("local-cluster[2,1,1024]", "")
    [secret] = tmp_path.iterdir()
    assert secret.stat().st_mode & 0o777 == 0o600
    assert str(secret) in os.environ["PYSPARK_SUBMIT_ARGS"]
    word = secret.read_text().split()[1]
    assert word not in str(settings) + os.environ["PYSPARK_SUBMIT_ARGS"]


@pytest.mark.spark
@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="this system does not tell who listens")
def test_spark_listens_on_the_loopback_address_alone():
    """Every address of the JVM, as the system has it: port 7 is 0007, 127.0.0.1 is 0100007F."""
    jvm = session("local[2]").sparkContext._jvm
    process = jvm.java.lang.ProcessHandle.current().pid()
    inodes = {os.readlink(path) for path in Path(f"/proc/{process}/fd").iterdir() if path.is_symlink()}
    listening = [line.split() for name in ("tcp", "tcp6") for line in _listeners(process, name)]
    own = [fields[1] for fields in listening if f"socket:[{fields[9]}]" in inodes]
    assert len(own) >= 2
    assert {address.partition(":")[0][-8:] for address in own} == {"0100007F"}


def _listeners(process: int, name: str) -> list[str]:
    lines = Path(f"/proc/{process}/net/{name}").read_text().splitlines()[1:]
    return [line for line in lines if line.split()[3] == "0A"]


@pytest.mark.spark
def test_spark_keeps_what_it_shuffles_where_nobody_else_can_read():
    folder = Path(session("local[2]").sparkContext.getConf().get("spark.local.dir"))
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path for path in folder.iterdir() if path.name.startswith("blockmgr-")]
