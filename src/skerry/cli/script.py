"""What every command that takes a script does first."""

import io
import sys
from pathlib import Path

from skerry.cli.project import open_copy
from skerry.database import Database
from skerry.errors import InputError
from skerry.model.text_encoding import explain_encoding
from skerry.plan.limits import Limits

__all__ = ["open_script", "read_script"]


def open_script(script: Path, project: Path | None, limits: Limits | None = None) -> Database:
    """Read a script beside what the project that is named or here knows already. The project stays as it is."""
    text = read_script(script)
    database = open_copy(project, limits)
    database.execute(text)
    return database


def read_script(script: Path) -> str:
    """The text of a script; of standard input, if it is called ``-``."""
    try:
        found = sys.stdin.buffer.read() if script == Path("-") else script.read_bytes()
    except FileNotFoundError:
        raise InputError(f"there is no script {str(script)!r}") from None
    except OSError as error:
        raise InputError(f"cannot read the script {str(script)!r}: {error.strerror}") from None
    if (problem := explain_encoding(str(script), found)) is not None:
        raise InputError(f"cannot read the script: {problem}")
    return io.StringIO(found.decode(errors="replace"), newline=None).read()
