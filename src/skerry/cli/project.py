"""The project that a command is about: a folder with a catalogue."""

from contextlib import closing
from pathlib import Path

from skerry.catalog import Catalog
from skerry.database import Database, connect
from skerry.plan.limits import Limits

__all__ = ["look_into", "open_copy", "open_for_run"]


def look_into(project: Path) -> Database:
    """A project that has something to be read or changed. Without a catalogue it is empty, and none is left behind."""
    return (
        Database(Catalog.in_memory(), project) if project.is_dir() and not Catalog.is_in(project) else connect(project)
    )


def open_for_run(project: Path | None, limits: Limits | None) -> Database:
    """The project that was named, or that is here; without any, a catalogue that lasts as long as the command."""
    here = Path.cwd()
    return connect(project or (here if Catalog.is_in(here) else None), limits)


def open_copy(project: Path | None, limits: Limits | None) -> Database:
    """The project that was named, or that is here, with a copy of its catalogue: nothing is done to the project."""
    folder = project or Path.cwd()
    if folder.is_dir() and not Catalog.is_in(folder):
        return Database(Catalog.in_memory(), folder, limits)
    with closing(Catalog.of_project(folder)) as catalog:
        return Database(catalog.copy(), folder, limits)
