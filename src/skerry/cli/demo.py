"""``skerry demo``: simulated traffic on Spark, with a live table."""

import shutil
import time
from pathlib import Path
from random import Random
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live

from skerry.catalog import Catalog, Subscription
from skerry.cli.demo_board import COMMUTERS, Board
from skerry.cli.interrupt import interruptible
from skerry.cli.summary import Pace, summarize
from skerry.database import Database, Settings
from skerry.errors import InputError
from skerry.model.folder_error import explain_folder

__all__ = ["demo"]

_FOLDERS = {"traffic": Path(__file__).parent / "traffic"}
_GRACE_SECONDS = 60.0
"""How much longer than asked for the first answers are waited for."""


def demo(
    name: Annotated[str, typer.Argument(help="Which demo.")] = "traffic",
    seconds: Annotated[
        float | None, typer.Option(help="Stop after so many seconds, with the first answers at the earliest.", min=1.0)
    ] = None,
    no_page: Annotated[
        bool, typer.Option("--no-page", help="Only the terminal. There is no page yet: this changes nothing.")
    ] = False,
    script: Annotated[
        Path | None, typer.Option(help="Write the scripts of the demo into this folder, to play with, and end.")
    ] = None,
) -> None:
    """Show standing queries over simulated I-80 sensors, on Spark, until Ctrl-C.

    Example: skerry demo traffic --seconds 30
    """
    if name not in _FOLDERS:
        raise InputError(f"unknown demo {name!r}; known are {', '.join(_FOLDERS)}")
    if script:
        _write_scripts(_FOLDERS[name], script)
        return
    started, file = time.monotonic(), _FOLDERS[name] / f"{name}.sql"
    console = Console()
    console.print(f"the queries are in {file}", highlight=False, soft_wrap=True)
    database = Database(Catalog.in_memory(), file.parent)
    database.execute(file.read_text(encoding="utf-8"))
    database.subscribe(_make_commuters(COMMUTERS))
    board = Board()

    def is_over() -> bool:
        passed = time.monotonic() - started
        return seconds is not None and passed > seconds + (0.0 if board.has_begun else _GRACE_SECONDS)

    with interruptible() as stopped, Live(console=console, get_renderable=board.draw, refresh_per_second=4) as live:
        live.auto_refresh = console.is_terminal
        outcome = database.run(
            board,
            Settings(step_rows=200_000),
            stopped=lambda: stopped.is_set() or is_over(),
            watch=board.watch,
            note=board.note,
        )
    console.print()
    pace = Pace("spark", time.monotonic() - started, was_stopped=stopped.is_set())
    typer.echo(summarize(outcome, pace, None))


def _write_scripts(folder: Path, target: Path) -> None:
    """Copy what the demo runs, for a user to change."""
    try:
        target.mkdir(parents=True, exist_ok=True)
        for file in sorted(folder.iterdir()):
            if (target / file.name).exists():
                raise InputError(f"{str(target / file.name)!r} exists already; name another folder")
            shutil.copy(file, target)
    except OSError as error:
        raise InputError(f"cannot write to {str(target)!r}: {explain_folder(error)}") from None
    typer.echo(f"cd {target} && skerry run {folder.name}.sql --format csv     # Ctrl-C ends it")


def _make_commuters(count: int) -> list[Subscription]:
    """People who want to know when it is slow where they drive."""
    random = Random(1)
    found = []
    for number in range(count):
        first, limit = random.randint(1, 8), random.randint(10, 25)
        where = f"segment BETWEEN {first} AND {first + random.randint(0, 2)} AND lane = {random.randint(1, 4)}"
        found.append(Subscription(f"commuter{number}", "traffic", f"{where} AND speed < {limit}"))
    return found
