"""Standard output that is closed, full or gone: a command says so, and ends in order."""

import os
import sys

__all__ = ["explain_lost_output", "open_missing_streams"]


def open_missing_streams() -> None:
    """Point standard streams that are closed to nowhere: the next file that is opened would be taken for them."""
    for stream in (0, 1, 2):
        try:
            os.fstat(stream)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free, which is this one


def explain_lost_output(error: OSError) -> str | None:
    """Why nothing can be written to standard output; None if that is not what an error came from."""
    if sys.stdout is None:
        return None
    try:
        print(flush=True)  # an empty line before a traceback disturbs nobody
    except OSError as lost:
        return f"cannot write to standard output: {lost.strerror}" if lost.errno == error.errno else None
    return None
