"""What every command that takes a script does first."""

from pathlib import Path

from skerry.cli.project import open_copy
from skerry.database import Database
from skerry.errors import InputError
from skerry.plan.limits import Limits

__all__ = ["open_script", "read_script"]


def open_script(script: Path, project: Path | None, limits: Limits | None = None) -> Database:
    """Read a script beside what the project that is named or here knows already. The project stays as it is."""
    text = read_script(script)
    database = open_copy(project, limits)
    database.execute(text)
    return database


def read_script(script: Path) -> str:
    """The text of a script."""
    try:
        return script.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"there is no script {str(script)!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the script {str(script)!r}: {error}") from None
