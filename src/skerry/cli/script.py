"""What every command that takes a script does first."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from skerry.cli.project import open_for_run
from skerry.database import Database
from skerry.errors import InputError
from skerry.plan.limits import Limits

__all__ = ["open_script", "read_script"]


def open_script(
    script: Path,
    project: Path | None,
    limits: Limits | None = None,
    answered: Callable[[pa.Table], None] = lambda table: None,
) -> Database:
    """Read a script into the catalogue of the project that is named or here, or else into one of its own.

    ``answered`` is given the rows of each SELECT over the catalogue.
    """
    text = read_script(script)
    database = open_for_run(project, limits)
    database.execute(text, answered)
    return database


def read_script(script: Path) -> str:
    """The text of a script."""
    try:
        return script.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"there is no script {str(script)!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the script {str(script)!r}: {error}") from None
