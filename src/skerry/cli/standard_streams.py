"""Standard output that is closed, full, gone or of few characters: a command says so, and ends in order."""

import io
import os
import sys

__all__ = ["escape_foreign_characters", "explain_lost_output", "open_missing_streams"]


def open_missing_streams() -> None:
    """Point standard streams that are closed to nowhere: the next file that is opened would be taken for them."""
    for stream in (0, 1, 2):
        try:
            os.fstat(stream)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free, which is this one


def escape_foreign_characters() -> None:
    """Print what the terminal has no character for by its number, in place of an error."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def explain_lost_output(error: OSError) -> str | None:
    """Why nothing can be written to standard output; None if that is not what an error came from."""
    if sys.stdout is None:
        return None
    try:
        print(flush=True)  # an empty line before a traceback disturbs nobody
    except OSError as lost:
        return f"cannot write to standard output: {lost.strerror}" if lost.errno == error.errno else None
    return None
