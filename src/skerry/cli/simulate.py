"""``skerry simulate``: a rule program on the motes of a simulated network."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from skerry.cli.rule_program import check_file, find_project, open_builtins
from skerry.cli.simulation_report import describe_run, format_table, write_report
from skerry.deduce.facts import Facts
from skerry.errors import OptionError
from skerry.network.link_changes import LinkChange, read_link_changes
from skerry.network.network import Network
from skerry.network.pictures.film import write_film
from skerry.network.pictures.scene import Link, Scene
from skerry.network.pictures.svg import write_picture
from skerry.network.radio_settings import RadioSettings
from skerry.network.rules.network_facts import read_network_facts
from skerry.network.rules.run import AUTO, ORDERS, STRATEGIES, Run
from skerry.network.rules.run import simulate as simulate_run
from skerry.network.topology.read_topology import TOPOLOGY_FORMS, read_topology
from skerry.network.topology.topology import Topology
from skerry.network.trace import Trace, write_trace
from skerry.plan.program import Checked, Type

__all__ = ["simulate"]


def simulate(
    program: Annotated[Path, typer.Argument(metavar="PROG.dl", help="A rule program.")],
    topology: Annotated[str, typer.Option(help=f"Who hears whom: {', '.join(TOPOLOGY_FORMS)}.")] = "grid:7x7",
    strategy: Annotated[str, typer.Option(help=f"How motes join: {', '.join(STRATEGIES)}.")] = AUTO,
    facts: Annotated[
        Path | None, typer.Option(help="Folder with p.csv or p.facts for each base predicate p but links.")
    ] = None,
    loss: Annotated[float, typer.Option(help="The probability that a receiver misses a message.")] = 0.0,
    retries: Annotated[int, typer.Option(help="How often a message to one receiver is sent again if lost.")] = 0,
    seed: Annotated[int, typer.Option(help="Of the first run; the next ones have the next.")] = 0,
    runs: Annotated[int, typer.Option(help="How many runs.")] = 1,
    changes: Annotated[
        Path | None,
        typer.Option(help="CSV file time,from,to,op: links that come (+) and go (-), motes that die; seconds."),
    ] = None,
    order: Annotated[str, typer.Option(help=f"When a mote acts on what it learns: {', '.join(ORDERS)}.")] = ORDERS[0],
    json: Annotated[Path | None, typer.Option(help="File for answers, messages and energy, as JSON.")] = None,
    trace: Annotated[Path | None, typer.Option(help="File for all messages of the first run, as JSON lines.")] = None,
    picture: Annotated[Path | None, typer.Option(help="SVG file for a picture of the first run.")] = None,
    animate: Annotated[Path | None, typer.Option(help="HTML file that plays the first run.")] = None,
    project: Annotated[Path | None, typer.Option(help="Folder whose skerry.toml has modules of built-ins.")] = None,
) -> None:
    """Run a rule program on motes, and compare their answers with those of one process.

    Example: skerry simulate logicJ.dl --topology grid:7x7 --strategy broadcast --loss 0.1 --runs 5 --picture run.svg
    """
    _check_choices(strategy, order, runs)
    checked, settings = check_file(program), RadioSettings(loss=loss, retries=retries)
    field = read_topology(topology)
    changing = [] if changes is None else read_link_changes(changes, len(field))
    task = _Task(checked, read_network_facts(facts, checked), field, strategy, settings, order, changing)
    watched = Trace() if trace or picture or animate else None
    found = list(_run_all(task, range(seed, seed + runs), watched, find_project(project, program)))
    reports = [describe_run(run, seed + number) for number, run in enumerate(found)]
    typer.echo(_format_head(task, program, found[0]))
    typer.echo(format_table(reports, sum(map(len, found[0].expected.values()))))
    if not field.is_connected:
        typer.echo("warning: not all motes can reach each other; what needs facts from both sides is missed", err=True)
    late_us = max(run.late_us for run in found)
    if late_us:
        typer.echo(
            f"warning: tuples were stored or joined up to {late_us / 1000:,.1f} ms later than motes rely on", err=True
        )
    if json is not None:
        write_report(json, found[0].strategy, reports)
    if watched is not None:
        scene = _make_scene(task, program, found[0], watched, seed)
        _write_views(scene, trace, picture, animate)


@dataclass(frozen=True)
class _Task:
    """What all runs have in common."""

    checked: Checked
    facts: Facts
    topology: Topology
    strategy: str
    settings: RadioSettings
    order: str
    changes: Sequence[LinkChange]


def _check_choices(strategy: str, order: str, runs: int) -> None:
    """Refuse what is no choice before anything is read."""
    for name, known, what in ((strategy, STRATEGIES, "strategy"), (order, ORDERS, "order")):
        if name not in known:
            raise OptionError(f"unknown {what} {name!r}; known are {', '.join(known)}")
    if runs < 1:
        raise OptionError(f"there is at least one run; got {runs}")


def _run_all(task: _Task, seeds: range, watched: Trace | None, project: Path) -> Iterator[Run]:
    """One run after the other; the first is looked at, and chooses how to join if that is left to it.

    A terminal shows how far they have come.
    """
    strategy, expected = task.strategy, None
    with open_builtins(task.checked, project) as calls, Console(stderr=True).status("") as status:
        for number, seed in enumerate(seeds):
            status.update(f"run {number + 1:,} of {len(seeds):,}, seed {seed}")
            run = simulate_run(
                task.checked,
                task.facts,
                task.topology,
                strategy=strategy,
                radio=task.settings,
                seed=seed,
                order=task.order,
                calls=calls,
                observe=None if watched is None or number else _show_to(watched),
                expected=expected,
                changes=task.changes,
            )
            strategy, expected = run.strategy, run.expected
            yield run


def _show_to(trace: Trace) -> Callable[[Network], None]:
    def observe(network: Network) -> None:
        network.radio.observer = trace

    return observe


def _format_head(task: _Task, program: Path, first: Run) -> str:
    answers = ", ".join(f"{name} {len(rows):,}" for name, rows in first.answers.items())
    motes = f"{len(task.topology):,} motes"
    how = f"{first.strategy}, {task.order} order, {_format_loss(task)}"
    head = f"{program.name} on {task.topology.name} ({motes}): {how}"
    least = min(first.estimates.values(), default=0)
    rest = f"more than {least:,.0f}" if least else "not tried"
    tried = ", ".join(
        f"{name} {messages:,.0f}" if isfinite(messages) else f"{name} {rest}"
        for name, messages in first.estimates.items()
    )
    chosen = [f"chosen by messages expected, from a rehearsal: {tried}"] if tried else []
    return "\n".join([head, *chosen, f"answers of the first run: {answers or 'none'}"])


def _format_loss(task: _Task) -> str:
    """The radio's loss, or from which to which links lose where they have their own."""
    found = {task.topology.losses.get(link, task.settings.loss) for link in task.topology.links}
    found = found or {task.settings.loss}
    return f"loss {min(found):g}" if len(found) == 1 else f"loss {min(found):g} to {max(found):g}"


def _make_scene(task: _Task, program: Path, run: Run, trace: Trace, seed: int) -> Scene:
    missed = "" if not run.missed else f", {100 * run.missed:.3g} % missed"
    details = f"{task.topology.name}, {task.order} order, {_format_loss(task)}, seed {seed}{missed}"
    title = f"{program.name}, {run.strategy}: {run.tally.total:,} messages"
    return Scene(task.topology, trace.transmissions, title, details, frozenset(_list_steps(task, run)))


def _list_steps(task: _Task, run: Run) -> Iterator[Link]:
    """The links that answers name: pairs of neighbours in the first two columns of an output that hold nodes."""
    for name, rows in run.answers.items():
        columns = [index for index, each in enumerate(task.checked.predicates[name].columns) if each.type is Type.NODE]
        if len(columns) >= 2:
            for x, y in ((row[columns[0]], row[columns[1]]) for row in rows):
                if isinstance(x, int) and isinstance(y, int) and y in task.topology.neighbours[x]:
                    yield x, y


def _write_views(scene: Scene, trace: Path | None, picture: Path | None, animate: Path | None) -> None:
    if trace is not None:
        write_trace(scene.transmissions, trace)
    if picture is not None:
        write_picture(scene, picture)
    if animate is not None:
        write_film(scene, animate)
    for path in filter(None, (trace, picture, animate)):
        typer.echo(f"the first run is in {path}")
