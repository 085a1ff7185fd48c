"""Every example of docs/rules.md does what the page says: programs, the facts and answers below them, refusals."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from skerry.cli import app
from skerry.deduce.checks import check
from skerry.deduce.describe import describe
from skerry.errors import RuleError
from skerry.lang.rules import read

PAGE = (Path(__file__).parents[1] / "docs" / "rules.md").read_text()
EXAMPLES = [re.findall(r"```(\S+)(?: (\S+))?\n(.*?)```", "```dl\n" + part, re.S) for part in PAGE.split("```dl\n")[1:]]


def describe_text(text):
    try:
        return describe(check(read(text))) + "\n"
    except RuleError as error:
        return f"{error}\n"


def test_page_has_examples():
    assert len(EXAMPLES) >= 7


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda blocks: blocks[0][2].strip().partition("\n")[0][:30])
def test_example_does_what_the_page_says(example, tmp_path):
    (_, _, program), *rest = example
    (tmp_path / "p.dl").write_text(program)
    facts = {what[3:]: text for _, what, text in rest if what.startswith("in:")}
    answers = {what[4:]: text for _, what, text in rest if what.startswith("out:")}
    assert [text for kind, _, text in rest if kind == "text"] in ([], [describe_text(program)])
    for name, text in facts.items():
        (tmp_path / f"{name}.csv").write_text(text)
    if answers:
        run = ["rules", "run", str(tmp_path / "p.dl"), "--facts", str(tmp_path), "--out", str(tmp_path / "out")]
        assert CliRunner().invoke(app, run).exit_code == 0
        assert {path.stem: path.read_text() for path in (tmp_path / "out").iterdir()} == answers
    assert answers or any(kind == "text" for kind, _, _ in rest)
