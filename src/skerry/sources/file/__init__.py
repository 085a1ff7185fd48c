"""Readings in files: CSV, JSON lines and Parquet, read in pieces wherever the path can be seen.

A CSV reading goes through ``connector`` (which units of which file), ``text`` (bytes to lines), ``csv`` (lines to
fields), ``conform`` (fields to the declared types) and ``sources.arrival`` (what of a unit belongs to the split).
"""

from skerry.sources.file.connector import FileConnector

__all__ = ["FileConnector"]
