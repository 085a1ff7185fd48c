"""``skerry queries``: the standing queries of a project."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from skerry.catalog import QueryCounter, Subscription, ViewNews
from skerry.catalog.counters import SUBSCRIPTION, VIEW
from skerry.cli.project import look_into
from skerry.cli.script import read_script
from skerry.database import connect
from skerry.errors import CatalogError, InputError
from skerry.model.time import Micros
from skerry.model.time import show as show_moment
from skerry.subscriptions.file import read_subscriptions

__all__ = ["queries"]

queries = typer.Typer(
    help="The standing queries of a project: add, load, list, show, remove.\n\nExample: skerry queries list",
    no_args_is_help=True,
)

_Project = Annotated[Path, typer.Option(help="Project folder with a catalogue.")]
_HERE = Path()
_WHO_TAKES_VIEWS_UP = (
    "a run in this project takes this up with its next batch, on Spark or in one process; "
    "one in a network, or with --processes, keeps the views that it began with"
)


@queries.command()
def add(
    name: Annotated[str, typer.Argument(metavar="ID|FILE", help="What it is called; or a file .dl or .sql.")],
    stream: Annotated[str | None, typer.Argument(help="Whose readings it is about.")] = None,
    predicate: Annotated[str | None, typer.Argument(help="Which of them.")] = None,
    sink: Annotated[str | None, typer.Option(help="An output of its own for the answers.")] = None,
    project: _Project = _HERE,
) -> None:
    """Subscribe to the readings of a stream for which a predicate holds, or add the views of a file.

    A file .dl is a rule program, each output of which becomes a view; a file .sql has statements. A run of the project
    takes both up with its next batch, on Spark or in one process. One in a network, or with --processes, keeps the
    views that it began with.

    Example: skerry queries add q42 traffic "speed < 30 AND segment BETWEEN 3 AND 7"

    Example: skerry queries add uncovered.dl

    Example: skerry queries add jams.sql
    """
    if stream is not None and predicate is not None:
        look_into(project).subscribe([Subscription(name, stream, predicate, sink)])
    elif stream is None and name.endswith(".dl"):
        typer.echo("\n".join(f"view {view}" for view in connect(project).add_rules(Path(name))))
        typer.echo(_WHO_TAKES_VIEWS_UP, err=True)
    elif stream is None and name.endswith(".sql"):
        connect(project).execute(read_script(Path(name)))
        typer.echo(_WHO_TAKES_VIEWS_UP, err=True)
    else:
        known = "a subscription has an id, a stream and a predicate; views are in a file .dl (rules) or .sql"
        raise InputError(f"{known}; got {name!r}")


@queries.command()
def load(
    file: Annotated[Path, typer.Argument(help="JSON lines or Parquet with id, stream, predicate, and perhaps sink.")],
    project: _Project = _HERE,
) -> None:
    """Subscribe to all that a file names, or if something in it is wrong to nothing.

    Example: skerry queries load commuters.jsonl
    """
    database, found = look_into(project), read_subscriptions(file)
    console = Console(stderr=True)
    database.subscribe(track(found, "subscribing", console=console, transient=True, disable=not console.is_terminal))
    typer.echo(f"{len(found)} subscriptions")


@queries.command("list")
def list_(
    stream: Annotated[str | None, typer.Option(help="Those of one stream alone.")] = None,
    counters: Annotated[bool, typer.Option("--counters", help="What each has come to, the busiest first.")] = False,
    limit: Annotated[int, typer.Option(help="How many subscriptions at the most.", min=1)] = 100,
    project: _Project = _HERE,
) -> None:
    """List views, and subscriptions with their predicates; or what the queries of the index have come to.

    Example: skerry queries list --stream traffic --counters
    """
    database = look_into(project)
    if counters:
        typer.echo(_format_counters(database.catalog.counters.all(stream), limit))
        return
    views = [plan for plan in database.plans() if stream in (None, *(source.name for source in plan.sources))]
    lines = [f"view {plan.name}: {', '.join(source.name for source in plan.sources)}" for plan in views]
    found = database.catalog.subscriptions.all(stream)
    lines += [f"{each.id}: {each.stream} WHERE {each.predicate}" for each in found[:limit]]
    if len(found) > limit:
        lines.append(f"and {len(found) - limit} more; --limit shows more")
    typer.echo("\n".join(lines) or "there are no standing queries")


@queries.command()
def show(
    name: Annotated[str, typer.Argument(metavar="ID", help="A view or a subscription.")],
    project: _Project = _HERE,
) -> None:
    """Show a standing query as it was written, and what it has come to.

    Example: skerry queries show q42
    """
    database = look_into(project)
    found = database.catalog.subscriptions.find([name])
    text = database.catalog.text_of(name)
    if not found and text is None:
        raise CatalogError(f"there is no standing query {name!r}; skerry queries list tells which there are")
    counter = database.catalog.counters.of(SUBSCRIPTION if found else VIEW, name)
    typer.echo(_describe(found[0]) if found else text or database.catalog.view(name).program)
    if news := None if found else database.catalog.view_log.news_of(name):
        typer.echo(_describe_news(news))
    if counter:
        last = _describe_last_match(counter)
        typer.echo(f"matches: {counter.matches}\nlast match: {last}\ncost share: {counter.cost_share:.1%}")


@queries.command()
def remove(
    names: Annotated[list[str], typer.Argument(metavar="ID...", help="Subscriptions or views.")],
    project: _Project = _HERE,
) -> None:
    """Strike standing queries.

    A run of the project lets go of them with its next batch, on Spark or in one process. One in a network, or with
    --processes, keeps the views that it began with.

    Example: skerry queries remove q42 q43
    """
    database = look_into(project)
    has_views = any(map(database.catalog.has_view, names))
    database.remove(names)
    if has_views:
        typer.echo(_WHO_TAKES_VIEWS_UP, err=True)


def _format_counters(found: Sequence[QueryCounter], limit: int) -> str:
    """Lay out a row per query, under the names of the columns."""
    rows = [
        (each.id, each.stream, f"{each.matches}", _describe_last_match(each), f"{each.cost_share:.1%}")
        for each in found[:limit]
    ]
    table = [("id", "stream", "matches", "last match", "cost share"), *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in table]
    more = [f"and {len(found) - limit} more; --limit shows more"] if len(found) > limit else []
    return "\n".join(lines + more) if found else "no standing query of the index has been asked yet"


def _describe_last_match(counter: QueryCounter) -> str:
    return "none" if counter.last_us is None else show_moment(Micros(counter.last_us))


def _describe_news(news: ViewNews) -> str:
    """What a run has made of a view.

    >>> _describe_news(ViewNews("slow", "r", 7, "came"))
    'answered by a run from its batch 7 on'
    """
    if news.event == "refused":
        return f"not answered by a run: {news.reason}"
    return f"answered by a run {'from' if news.event == 'came' else 'until'} its batch {news.batch}" + (
        " on" if news.event == "came" else ""
    )


def _describe(subscription: Subscription) -> str:
    sink = f"\nsink: {subscription.sink}" if subscription.sink else ""
    return f"id: {subscription.id}\nstream: {subscription.stream}\npredicate: {subscription.predicate}{sink}"
