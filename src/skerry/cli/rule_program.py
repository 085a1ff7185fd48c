"""Rule programs in files, as commands take them: read, checked, with the settings of their project."""

from dataclasses import replace
from pathlib import Path

import typer

from skerry.deduce.builtins import Builtins
from skerry.deduce.checks import check
from skerry.deduce.project_settings import list_allowed_modules, read_project_limits
from skerry.lang.rules import read
from skerry.lang.rules.foreign_words import list_lost_directives
from skerry.lang.rules.program_file import read_program_text
from skerry.plan.limits import Limits
from skerry.plan.program import Checked

__all__ = ["check_file", "find_project", "open_builtins"]


def check_file(program: Path, project: Path | None = None, limits: Limits | None = None) -> Checked:
    """Read and check a program; the limits of the command count before its own, and those before the project's.

    What was meant as a statement, and is a comment, is pointed out on stderr, whatever else is wrong with the program.
    """
    written = read_program_text(program)
    for lost in list_lost_directives(written):
        typer.echo(f"warning: {lost}", err=True)
    text = read(written)
    farther = text.limits if project is None else text.limits.over(read_project_limits(project))
    return check(replace(text, limits=farther if limits is None else limits.over(farther)))


def find_project(project: Path | None, program: Path) -> Path:
    """The folder whose settings count: the one given, else this one if it has any, else the program's."""
    if project is not None:
        return project
    return Path() if (Path() / "skerry.toml").exists() else program.parent


def open_builtins(checked: Checked, project: Path) -> Builtins:
    """The built-ins of a program, from the modules that its project allows."""
    return Builtins(checked.program.functions, list_allowed_modules(project), project)
