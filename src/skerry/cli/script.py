"""What every command that takes a script does first."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from skerry.catalog import Catalog
from skerry.database import Database, connect
from skerry.errors import InputError
from skerry.plan.limits import Limits

__all__ = ["open_script"]


def open_script(
    script: Path,
    project: Path | None,
    limits: Limits | None = None,
    answered: Callable[[pa.Table], None] = lambda table: None,
) -> Database:
    """Read a script into the project's catalogue, or into one of its own if no project is named.

    ``answered`` is given the rows of each SELECT over the catalogue.
    """
    try:
        text = script.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"there is no script {str(script)!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the script {str(script)!r}: {error}") from None
    database = connect(project, limits) if project else Database(Catalog.in_memory(), Path.cwd(), limits)
    database.execute(text, answered)
    return database
