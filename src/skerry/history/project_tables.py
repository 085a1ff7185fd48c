"""The history and the answers of a project as tables that SQL can ask, while a pipeline writes them.

history.traffic     accepted readings of a stream, its declared columns
answers.my_road     the answers of a view, where the last runs of the project have written them
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from skerry.errors import InputError
from skerry.history.folder import ORDER, HistoryFolder
from skerry.model.atomic_write import write_atomically
from skerry.model.types import sql_name
from skerry.sinks.parts import find_parts

__all__ = ["ProjectTables", "note_answers"]

_MOST_FOLDERS = 16
_ANSWERS = Path(".skerry") / "answers.json"
HISTORY, ANSWERS = "history", "answers"


def note_answers(project: Path, folder: Path) -> None:
    """Note where a run of a project writes its answers, so that they can be asked."""
    folders = [each for each in _read_folders(project) if each != folder]
    path = project / _ANSWERS
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps([str(each) for each in [*folders, folder][-_MOST_FOLDERS:]]).encode())


def _read_folders(project: Path) -> list[Path]:
    path = project / _ANSWERS
    return [Path(each) for each in json.loads(path.read_text())] if path.exists() else []


class ProjectTables:
    """Finds the files of a table when asked. ``find_schema`` gives the columns of a stream or a view, if known."""

    schemas = (HISTORY, ANSWERS)

    def __init__(self, project: Path, find_schema: Callable[[str], pa.Schema | None]) -> None:
        self._project, self._find_schema = project.absolute(), find_schema
        self._history = HistoryFolder(self._project)

    @property
    def folders(self) -> list[Path]:
        """All that may be read."""
        return [self._history.root, *_read_folders(self._project)]

    def open(self, connection: duckdb.DuckDBPyConnection, schema: str, name: str) -> duckdb.DuckDBPyRelation:
        """One table."""
        if schema == HISTORY:
            return self._open_history(connection, name)
        return self._open_answers(connection, name)

    def _open_history(self, connection: duckdb.DuckDBPyConnection, name: str) -> duckdb.DuckDBPyRelation:
        files = [str(part.path) for part in self._history.parts(name)] if name in self._history.streams() else []
        if not files:
            declared = self._find_schema(name)
            if declared is None:
                known = ", ".join(self._history.streams()) or "none"
                raise InputError(f"there is no history of {name!r}; there is one of {known}")
            return connection.from_arrow(declared.empty_table())
        found = connection.read_parquet(files, union_by_name=True)
        order = {column.name for column in ORDER}
        return found.select(*(duckdb.ColumnExpression(column) for column in found.columns if column not in order))

    def _open_answers(self, connection: duckdb.DuckDBPyConnection, name: str) -> duckdb.DuckDBPyRelation:
        folder = next((each / name for each in reversed(_read_folders(self._project)) if (each / name).is_dir()), None)
        if folder is None:
            known = sorted({path.name for each in _read_folders(self._project) for path in _list_outputs(each)})
            written = f"there are some of {', '.join(known)}" if known else "no run of this project has written any yet"
            raise InputError(f"there are no answers of {name!r}; {written}")
        files, declared = [part.path for part in find_parts(folder)], self._find_schema(name)
        if not files and declared is None:
            raise InputError(f"there are no answers of {name!r} yet")
        if not files:
            assert declared is not None
            return connection.from_arrow(declared.empty_table())
        return _read(connection, [str(file) for file in files], files[0].suffix, declared)


def _list_outputs(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")]


def _read(
    connection: duckdb.DuckDBPyConnection, files: Sequence[str], suffix: str, declared: pa.Schema | None
) -> duckdb.DuckDBPyRelation:
    """Files of one format, with the declared types where the format has none of its own."""
    paths: Any = list(files)  # DuckDB takes lists too, which its types do not say
    if suffix == ".parquet":
        return connection.read_parquet(paths, union_by_name=True)
    is_plain = declared is not None and not any(pa.types.is_nested(column.type) for column in declared)
    types = {column.name: sql_name(column.type) for column in declared} if declared is not None and is_plain else None
    if suffix == ".csv":
        return connection.read_csv(paths, header=True, dtype=types)
    if types:
        return connection.read_json(paths, columns=types, format="newline_delimited")
    return connection.read_json(paths, format="newline_delimited")
