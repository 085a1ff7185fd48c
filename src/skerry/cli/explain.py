"""``skerry explain``: what runs where."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from skerry.build import explain as plans
from skerry.build.explain_sharing import explain_sharing
from skerry.cli.demand import describe_demands
from skerry.cli.script import open_script
from skerry.database import Database, Settings
from skerry.errors import InputError
from skerry.history.folder import HistoryFolder
from skerry.model.backfill_span import read_backfill
from skerry.network.views.describe import describe_placements
from skerry.network.views.runtime import choose_placements
from skerry.pipeline.backfill import describe_backfill
from skerry.pipeline.runtime import RunOptions
from skerry.plan.fan_out import FanOut
from skerry.plan.sharing import find_copies, share
from skerry.plan.view import ViewPlan
from skerry.sources.connectors import check_options

__all__ = ["explain"]


def explain(
    script: Annotated[Path, typer.Argument(help="SQL statements: sources and views.")],
    project: Annotated[Path | None, typer.Option(help="Project folder with a catalogue.")] = None,
) -> None:
    """Print the plan of each view, what runs where, and what sensors must deliver.

    Example: skerry explain traffic.sql
    """
    database = open_script(script, project)
    found = database.plans()
    for source in {source.name: source for plan in found for source in plan.sources}.values():
        check_options(source)
    running, copies = find_copies(found)
    together = share(running)
    shared = {name: plan for plan in together if isinstance(plan.root, FanOut) for name in plan.root.outputs(plan.name)}
    of = {copy.name: copy.of for copy in copies}
    descriptions = [plans.explain(plan, shared.get(of.get(plan.name, plan.name)), of.get(plan.name)) for plan in found]
    descriptions += _subscriptions(database)
    if not descriptions:
        raise InputError("the script has no view; add one with CREATE MATERIALIZED VIEW")
    descriptions += explain_sharing(found, together, copies)
    descriptions += _backfills(found, project or Path())
    typer.echo("\n\n".join(descriptions + _networks(database) + describe_demands(database)))


def _networks(database: Database) -> list[str]:
    """What it would cost to run each view in the network that its sources are in."""
    placed = [plan for plan in database.plans() if any(source.network for source in plan.sources)]
    if not placed:
        return []
    pipeline = database.pipeline(placed, Settings("network"))
    chosen = choose_placements(pipeline, RunOptions(catalog=database.catalog))
    return [describe_placements(each) for each in chosen.values()]


def _backfills(plans: Sequence[ViewPlan], project: Path) -> list[str]:
    """What views would begin with of the history that there is."""
    folder = HistoryFolder(project.absolute())
    return [describe_backfill(plan, folder) for plan in plans if read_backfill(plan.options) is not None]


def _subscriptions(database: Database) -> list[str]:
    """How many there are to each stream."""
    streams = database.catalog.subscriptions.streams()
    lines = [f"  {stream}: {count}, by one query index beside the source" for stream, count in streams.items()]
    return ["\n".join(["subscriptions", *lines])] if lines else []
