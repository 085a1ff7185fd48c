"""Readings from files that appear and grow in a folder."""

from skerry.sources.folder.connector import FolderConnector

__all__ = ["FolderConnector"]
