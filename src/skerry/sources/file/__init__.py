"""Readings in files: CSV, JSON lines and Parquet, read in pieces wherever the path can be seen."""

from skerry.sources.file.connector import FileConnector

__all__ = ["FileConnector"]
