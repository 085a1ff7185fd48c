import os
import pty
import signal
import subprocess
import time
from functools import partial
from threading import Event

import psutil

from skerry.cli.interrupt import interruptible, watch_interrupts
from tests.cli.commands import SKERRY

_ENDLESS = "SELECT SUM(i) FROM generate_series(1, 1000000000000) AS t(i), (SELECT 1 FROM views UNION ALL SELECT 1)"


def test_ctrl_c_in_the_middle_of_a_query_ends_with_one_word(tmp_path):
    command, pipe = [*SKERRY, "sql", _ENDLESS], subprocess.PIPE
    # Below a shell in the background Ctrl-C would be ignored.
    listen = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(command, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True, preexec_fn=listen) as process:
        while process.poll() is None and psutil.Process(process.pid).cpu_times().user < 3:  # a third of it is the start
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        try:
            assert process.communicate(timeout=100) == ("", "stopped\n")
        finally:
            process.kill()
        assert process.returncode == 130


def test_second_ctrl_c_breaks_off(monkeypatch):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        interrupted = watch_interrupts()
        with interruptible() as stopped:
            signal.raise_signal(signal.SIGINT)
            assert (stopped.is_set(), interrupted.is_set()) == (True, False)
            assert _breaks_off(interrupted)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_terminal_is_told_that_a_run_stops(monkeypatch):
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal, interruptible() as stopped:
        monkeypatch.setattr("sys.stderr", terminal)
        signal.raise_signal(signal.SIGTERM)
        assert stopped.is_set()
        assert b"stopping; Ctrl-C again ends at once" in os.read(ours, 100)
    os.close(ours)


def _breaks_off(interrupted: Event) -> bool:
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        return interrupted.is_set()
    return False
