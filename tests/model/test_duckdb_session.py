"""The DuckDB of a thread."""

import subprocess
import sys
from threading import Thread

from skerry.model.duckdb_session import open_duckdb


def test_no_bar_is_drawn_while_a_query_takes_long():
    assert open_duckdb().sql("SELECT current_setting('enable_progress_bar')").fetchall() == [(False,)]


def test_process_can_be_forked_while_another_thread_has_its_duckdb():
    open_duckdb().sql("SELECT 1").fetchall()
    ended: list[int] = []

    def start() -> None:
        # With something to do before it starts, a process is forked: then Python tidies up after all other threads.
        process = subprocess.Popen([sys.executable, "-c", ""], preexec_fn=lambda: None)
        ended.append(process.wait())

    thread = Thread(target=start)
    thread.start()
    thread.join()
    assert ended == [0]
    assert open_duckdb().sql("SELECT 1").fetchall() == [(1,)]
