"""The DuckDB of a thread."""

from skerry.model.duckdb_session import open_duckdb


def test_no_bar_is_drawn_while_a_query_takes_long():
    assert open_duckdb().sql("SELECT current_setting('enable_progress_bar')").fetchall() == [(False,)]
