"""The Spark session: one a process, quiet, with the settings that make a small batch cheap."""

import atexit
import os
import re
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from skerry.errors import OptionError, RunError
from skerry.model.private_folder import remove_private_folders
from skerry.spark.class_archive import find_class_archive, use_class_archive, write_class_archive
from skerry.spark.complaints import SPARK_ERRORS, find_cause
from skerry.spark.cores import count_cores, count_local_cores
from skerry.spark.java import find_java
from skerry.spark.libraries import NO_LIBRARIES, Libraries
from skerry.spark.local_master import allow_retries, protect
from skerry.spark.spark_home import use_compiled_home

__all__ = ["PARTITIONS", "session"]

# Envelopes are arrays of megabytes, each a region of its own to the collector that Java chooses by itself.
_JAVA = "-XX:+UseParallelGC"
# Where only envelopes pass through the JVM, the compiler for its hottest code takes more than it gives: cores that
# Python's workers need. W1 on two cores: 1.75 million tuples per second with it, 2.2 without; on a cluster, with a JVM
# per executor, 0.92 and 1.49.
_JAVA_FOR_ENVELOPES = f"{_JAVA} -XX:TieredStopAtLevel=1"
_DRIVER_JAVA = "spark.driver.extraJavaOptions"
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    # An error's message may be empty: what it is and what led to it is in its trace (skerry.spark.complaints).
    "spark.sql.pyspark.jvmStacktrace.enabled": "true",
    "spark.executor.syncLogLevel.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000000",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # One limit for the native memory of all buckets' state; without it each has buffers of its own.
    "spark.sql.streaming.stateStore.rocksdb.boundedMemoryUsage": "true",
    "spark.sql.streaming.stateStore.rocksdb.maxMemoryUsageMB": "500",
    # Spark remembers the last thousand jobs, and plans with their metrics, for pages that nobody opens.
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.ui.retainedTasks": "200",
    "spark.sql.ui.retainedExecutions": "10",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.sql.adaptive.enabled": "false",
    # Spark's usual manager starts some ten processes for each entry of a log on a disk, to look for links. Checkpoints
    # are always on a disk, that of this machine or one that all share.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    # A task goes where its state is if a core is free there, else where one is free: to load state anew takes less than
    # to wait. Otherwise, after an executor was lost, all its state would stay where it went first.
    "spark.locality.wait": "0s",
    "spark.python.worker.reuse": "true",
    "spark.python.daemon.module": "skerry.spark.worker_daemon",
    # Spark starts a daemon for each set of environment variables, and sets this one for some stages only.
    "spark.executorEnv.SPARK_SIMPLIFIED_TRACEBACK": "1",
    # Over TCP a task takes some 40 ms to reach its Python worker, idle as both may be.
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.driver.memory": "2g",
}
PARTITIONS = "spark.sql.shuffle.partitions"
"""How many tasks Spark has behind a shuffle."""
_MASTER = re.compile(
    r"local(\[\s*(\*|[1-9]\d*)\s*(,\s*[1-9]\d*\s*)?\])?|local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]"
    r"|spark://(?P<hosts>[^,\s]+:\d+(,[^,\s]+:\d+)*)|yarn|k8s://.+"
)


def session(
    master: str,
    extra: Mapping[str, str] | None = None,
    *,
    rows_in_jvm: bool = True,
    libraries: Libraries = NO_LIBRARIES,
    write_classes_to: Path | None = None,
) -> SparkSession:
    """Get the session for a master, starting Spark if this process has none yet.

    ``rows_in_jvm`` says whether Spark itself works on rows, or merely passes envelopes on. ``write_classes_to``
    names an archive of classes that Java is to leave behind; otherwise it uses the one in the cache, if it is there.
    """
    extra = {**libraries.as_settings(), **(extra or {})}
    _check_master(master)
    master = allow_retries(master)
    found = _find_started()
    if found is not None:
        if found.sparkContext.master != master:
            raise RunError(f"this process runs Spark on {found.sparkContext.master!r} already, not on {master!r}")
        libraries.check(found)
        return found
    found_java = find_java()
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if master.startswith("local"):
        use_compiled_home()
    builder = SparkSession.builder.appName("skerry").master(master)
    java = _choose_java(rows_in_jvm=rows_in_jvm)
    own = {**_SETTINGS, **java, **_size_for_master(master), **protect(master, java[_DRIVER_JAVA])}
    if write_classes_to:
        own[_DRIVER_JAVA] += write_class_archive(write_classes_to)
    elif master.startswith("local"):
        own[_DRIVER_JAVA] += use_class_archive(find_class_archive(found_java))
    for name, value in {**own, **extra}.items():
        builder = builder.config(name, value)
    with _own_log() as log:
        started = _start(builder, master, libraries, log)
    atexit.register(_end, started)
    _size_for_executors(started, extra)
    return started


def _find_started() -> SparkSession | None:
    """The session that this process has, whichever of its threads has started it."""
    try:
        return SparkSession.active()
    except PySparkRuntimeError:
        return None


def _choose_java(*, rows_in_jvm: bool) -> dict[str, str]:
    options = _JAVA if rows_in_jvm else _JAVA_FOR_ENVELOPES
    return {_DRIVER_JAVA: options, "spark.executor.extraJavaOptions": options}


def _start(builder: SparkSession.Builder, master: str, libraries: Libraries, log: Path) -> SparkSession:
    """Start Spark, or say why it does not."""
    said = log.stat().st_size if log.exists() else 0
    try:
        _launch_java(builder)
        return builder.getOrCreate()
    except SPARK_ERRORS as error:
        reason = libraries.explain(_read_from(log, said))
        if reason is not None:
            raise reason from None
        cause = find_cause(str(error))
        if "stopped SparkContext" in cause:  # it gave up
            cause = "nobody answers there"
        elif "JAVA_GATEWAY_EXITED" in cause:
            cause = find_cause(_read_from(log, said).replace('Exception in thread "main" ', ""))
        raise RunError(f"Spark does not start on {master!r}: {cause}") from None


def _launch_java(builder: SparkSession.Builder) -> None:
    """Start Java in a process group of its own, if it does not run yet.

    A signal to all processes of a command, as ``timeout`` sends it, then reaches the driver alone, which lets the batch
    at hand end before Java does. Java ends by itself when the driver is gone.
    """
    if SparkContext._gateway is None:
        conf = SparkConf().setAll([(name, str(value)) for name, value in builder._options.items()])
        gateway = launch_gateway(conf, {"process_group": 0})  # type: ignore[no-untyped-call]
        SparkContext._ensure_initialized(gateway=gateway, conf=conf)


def _check_master(master: str) -> None:
    """Refuse what is no master before Java starts: it would end without a word, or ask an unknown host for a minute."""
    found = _MASTER.fullmatch(master)
    if not found:
        known = "local, local[N], local-cluster[N,CORES,MB], spark://HOST:PORT, yarn, k8s://URL"
        raise OptionError(f"{master!r} is no Spark master; known are {known}")
    hosts = [each.rpartition(":")[0].strip("[]") for each in (found["hosts"] or "").split(",") if each]
    if hosts and not any(map(_is_known, hosts)):
        raise OptionError(f"Spark master {master!r}: there is no host {hosts[0]!r}")


def _is_known(host: str) -> bool:
    """Whether a host's name has an address."""
    try:
        return bool(socket.getaddrinfo(host, None))
    except OSError:
        return False


def _end(started: SparkSession) -> None:
    """Stop Spark, and the threads by which it calls back: they would outlive the interpreter's orderly end."""
    gateway = started.sparkContext._gateway
    started.stop()
    if gateway is not None:
        gateway.shutdown()
    remove_private_folders()


def _size_for_master(master: str) -> dict[str, str]:
    """As many shuffle partitions as a local master has cores. Those of a cluster are known once it has started."""
    cores = count_local_cores(master)
    if cores is None:
        return {}
    return {PARTITIONS: str(cores), "spark.default.parallelism": str(cores)}


def _size_for_executors(started: SparkSession, extra: Mapping[str, str]) -> None:
    """As many shuffle partitions as a cluster has cores, unless told otherwise: Spark's 200 are 200 tasks per batch."""
    if count_local_cores(started.sparkContext.master) is None and PARTITIONS not in extra:
        started.conf.set(PARTITIONS, str(count_cores(started)))


@contextmanager
def _own_log() -> Iterator[Path]:
    """Let Spark's processes inherit a file instead of the terminal for what they have to say."""
    path = Path(tempfile.gettempdir()) / f"skerry-spark-{os.getuid()}.log"
    sys.stderr.flush()
    kept = os.dup(2)
    log = _open_log(path)
    try:
        os.dup2(log, 2)
        yield path
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(log)


def _read_from(path: Path, position: int) -> str:
    """What was written to a file since."""
    try:
        with path.open("rb") as file:
            file.seek(position)
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def _open_log(path: Path) -> int:
    """Open the log to append to it; nowhere, if somebody else has put something in its place."""
    try:
        log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)
    if os.fstat(log).st_uid == os.getuid():
        return log
    os.close(log)
    return os.open(os.devnull, os.O_WRONLY)
