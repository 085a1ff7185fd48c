"""Tests with a broker run where mosquitto is installed: `make setup` sees to it where it may."""

import pytest

from skerry.errors import SetupError
from skerry.testing.broker_programs import MosquittoProgram, find_program

__all__ = ["needs_mosquitto"]


def _is_installed() -> bool:
    try:
        return isinstance(find_program(), MosquittoProgram)
    except SetupError:
        return False


needs_mosquitto = pytest.mark.skipif(not _is_installed(), reason="mosquitto is missing: apt-get install mosquitto")
