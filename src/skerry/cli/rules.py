"""``skerry rules``: rule programs over files of facts."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.status import Status

from skerry.cli.compile_notes import note_compilations
from skerry.cli.limits import MaxListLength, MaxSeconds, MaxStages, MaxTuples, read_limits
from skerry.cli.rule_program import check_file, find_project, open_builtins
from skerry.cli.script import open_script
from skerry.deduce.change import Tick
from skerry.deduce.checks import check_kinds_of_facts
from skerry.deduce.describe import describe, list_doubtful_bases
from skerry.deduce.engine import Engine
from skerry.deduce.facts import Facts, Outputs, column_names, file_name, read_facts, write_answers, write_lines
from skerry.deduce.magic import fits, keep_relevant, narrow
from skerry.deduce.why import Why
from skerry.errors import OptionError, RuleError, RuleLimit
from skerry.lang.rules.question import list_texts, read_question
from skerry.model.term import Constant, Variable
from skerry.model.time import Micros
from skerry.plan.program import Atom, Checked, Output

__all__ = ["rules"]

rules = typer.Typer(
    help="Rule programs: check them, run them over facts, ask why.\n\nExample: skerry rules check reachability.dl",
    no_args_is_help=True,
)

_RUNTIMES = ("spark", "fjord")
_Program = Annotated[Path, typer.Argument(metavar="PROG.dl", help="A rule program.")]
_Facts = Annotated[Path, typer.Option(help="Folder with p.csv or p.facts for each base predicate p.")]
_Project = Annotated[
    Path | None,
    typer.Option(help="Folder whose skerry.toml has modules of built-ins and limits: this one, or else the program's."),
]


@rules.command()
def check(program: _Program, project: _Project = None) -> None:
    """Say how a program is kept true: classes, strata, stages, types; or what is wrong with it.

    Example: skerry rules check uncovered.dl
    """
    checked = check_file(program)
    with open_builtins(checked, find_project(project, program)):
        typer.echo(describe(checked))
    for warning in list_doubtful_bases(checked):
        typer.echo(f"warning: {warning}", err=True)


@rules.command()
def run(
    program: _Program,
    facts: _Facts,
    out: Annotated[Path, typer.Option(help="Folder for the answers, p.csv for each output p.")] = Path("out"),
    runtime: Annotated[str, typer.Option(help="fjord (in this process) or spark.")] = "fjord",
    query: Annotated[str | None, typer.Option(help="Only what fits this, as in path(1, x).")] = None,
    master: Annotated[str, typer.Option(help="Spark master.")] = "local[*]",
    project: _Project = None,
    max_tuples: MaxTuples = None,
    max_seconds: MaxSeconds = None,
    max_stages: MaxStages = None,
    max_list_length: MaxListLength = None,
) -> None:
    """Derive what follows from facts, tick by tick, and write the outputs.

    Example: skerry rules run reachability.dl --facts facts --out answers
    """
    if runtime not in _RUNTIMES:
        raise OptionError(f"unknown runtime {runtime!r}; known are {', '.join(_RUNTIMES)}; motes: skerry simulate")
    project = find_project(project, program)
    checked = check_file(program, project, read_limits(max_tuples, max_seconds, max_stages, max_list_length))
    found = read_facts(facts, checked)
    check_kinds_of_facts(checked, found.inserted())
    if query is not None:
        _answer(checked, found, query, project, out)
    elif runtime == "fjord" or not _derive_in_rounds(checked, found, master, out):
        _derive(checked, found, project, out)


def _derive_in_rounds(checked: Checked, facts: Facts, master: str, out: Path) -> bool:
    """Derive over DataFrames and write the outputs; False, with a word why, if the program is not one for that."""
    from skerry.spark.rules import derive, find_run_obstacle

    reason = find_run_obstacle(checked, facts.ticks)
    if reason:
        typer.echo(f"running in one process, since {reason}", err=True)
        return False
    with Console(stderr=True).status("starting spark") as status:
        answers = derive(checked, facts.ticks, facts.unit, master, status.update)
        for output in checked.outputs:
            found, name = answers[output.predicate], file_name(output)
            status.update(f"{name}: writing {found.count:,} rows")
            write_lines(out / f"{name}.csv", column_names(checked.predicates[output.predicate]), found.lines())
            _report(name, found.count, out)
    return True


def _derive(checked: Checked, found: Facts, project: Path, out: Path) -> None:
    silent = any(predicate.silent for predicate in checked.predicates.values())
    with _engine(checked, found, project) as engine:
        outputs = Outputs(checked, found.unit, None if silent else engine.held)
        for tick in _track_progress(engine, found.ticks):
            outputs.add(tick.now, engine.tick(tick.now, tick.inserts, tick.deletes))
    for name, count in outputs.write(out).items():
        _report(name, count, out)


@rules.command()
def why(
    program: Annotated[
        Path, typer.Argument(metavar="PROG.dl|SCRIPT.sql", help="Rules, or a script with a view of them.")
    ],
    fact: Annotated[str, typer.Argument(metavar="TUPLE", help="What to explain, as in uncov(3,7).")],
    facts: Annotated[Path | None, typer.Option(help="Folder with p.csv or p.facts for each base predicate p.")] = None,
    view: Annotated[str | None, typer.Option(help="Of a script, the view that is made of rules.")] = None,
    at: Annotated[datetime | None, typer.Option(help="Of a view, the moment; the last reading's if not given.")] = None,
    project: _Project = None,
    max_tuples: MaxTuples = None,
    max_seconds: MaxSeconds = None,
    max_stages: MaxStages = None,
    max_list_length: MaxListLength = None,
) -> None:
    """Print the proof of a tuple; or of one that does not hold, where each rule fails.

    Example: skerry rules why uncovered.dl --facts facts "uncov(3,7)"

    Example: skerry rules why road.sql --view jams "stretch(3,4)" --at "2026-01-01 08:00:00"
    """
    limits = read_limits(max_tuples, max_seconds, max_stages, max_list_length)
    if view is not None:
        moment = None if at is None else Micros((at - datetime(1970, 1, 1)) // timedelta(microseconds=1))
        typer.echo(open_script(program, None, limits).why(view, fact, moment))
    elif facts is not None:
        folder = find_project(project, program)
        _why_of_facts(check_file(program, folder, limits), fact, facts, folder)
    else:
        raise OptionError("facts are in a folder, --facts DIR; or a script has a view of rules, --view NAME")


def _why_of_facts(checked: Checked, fact: str, facts: Path, project: Path) -> None:
    found = read_facts(facts, checked)
    question = _read_question(fact, checked, found)
    narrowed = keep_relevant(checked, question.predicate)
    with open_builtins(narrowed, project) as builtins, _refusals(narrowed):
        engine = Engine(narrowed, builtins, found.unit)
        for tick in _track_progress(engine, found.only(narrowed.predicates).ticks):
            engine.tick(tick.now, tick.inserts, tick.deletes)
        typer.echo(Why(narrowed, engine.rows, builtins, found.unit).explain(question))


def _answer(checked: Checked, facts: Facts, query: str, project: Path, out: Path) -> None:
    """Write what fits a question at the end, deriving no more than it needs."""
    question = _read_question(query, checked, facts)
    narrowed = narrow(checked, question)
    with _engine(narrowed.checked, facts, project) as engine:
        for tick in _track_progress(engine, facts.only(narrowed.checked.predicates).ticks):
            engine.tick(tick.now, tick.inserts, tick.deletes)
        rows = [row for row in engine.rows(narrowed.predicate) if fits(row, question)]
    write_answers(out, checked, Output(question.predicate), rows, facts.unit)
    _report(question.predicate, len(rows), out)


def _read_question(text: str, checked: Checked, facts: Facts) -> Atom:
    """Read a question; say which bare words were taken for values."""
    plain = read_question(text, checked, facts.unit)
    question = read_question(text, checked, facts.unit, list_texts(checked, facts.inserted()))
    for before, after in zip(plain.arguments, question.arguments, strict=True):
        if isinstance(before, Variable) and isinstance(after, Constant):
            typer.echo(f"note: {before.name} is taken for the value {before.name!r}; write _ for any", err=True)
    return question


def _report(name: str, count: int, out: Path) -> None:
    typer.echo(f"{name}: {count:,} row{'' if count == 1 else 's'} in {out / name}.csv")


@contextmanager
def _engine(checked: Checked, facts: Facts, project: Path) -> Iterator[Engine]:
    with open_builtins(checked, project) as builtins, _refusals(checked):
        yield Engine(checked, builtins, facts.unit)


@contextmanager
def _refusals(checked: Checked) -> Iterator[None]:
    """Let a program that its facts do not settle be refused like one that no facts would settle."""
    try:
        yield
    except RuleLimit as limit:
        if limit.code != "E201":
            raise
        message, fix, number, code = limit.args
        location = next((rule.location for rule in checked.rules if rule.number == number), None)
        raise RuleError(code, message, fix, number, location) from None


def _track_progress(engine: Engine, ticks: Sequence[Tick]) -> Iterator[Tick]:
    """Ticks; a terminal shows how far they have come."""
    with Console(stderr=True).status("deriving") as status, note_compilations(status.update):
        for number, tick in enumerate(ticks, 1):
            before = f"tick {number:,} of {len(ticks):,}, " if len(ticks) > 1 else ""
            engine.watch(partial(_show_progress, status, before))
            yield tick


def _show_progress(status: Status, before: str, predicate: str, count: int) -> None:
    status.update(f"{before}{predicate}: {count:,} tuples")
