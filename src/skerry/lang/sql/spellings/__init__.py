"""Spellings of other stream processors that mean what can be said here: read as if that had been written."""
