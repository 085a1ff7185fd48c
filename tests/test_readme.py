"""The README says what happens."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from skerry.cli import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_example_in_the_readme_is_the_one_that_is_shipped():
    assert f"```sql\n{(ROOT / 'examples' / 'road.sql').read_text()}```" in README


def test_readme_shows_what_its_example_gives(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    run = ["run", "examples/road.sql", "--runtime", "fjord", "--format", "csv", "--out", str(tmp_path)]
    told = CliRunner().invoke(app, run).stdout.splitlines()
    shown = README.partition("--out out\n")[2].partition("\n```")[0].splitlines()
    answers = [line for part in sorted((tmp_path / "my_road").iterdir()) for line in part.read_text().splitlines()]
    assert told[1:-1] == shown[1 : len(told) - 1]
    assert answers == shown[len(told) + 1 :]


def test_links_in_the_docs_lead_somewhere():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text())]
    assert [link for page, link in links if not (page.parent / link).exists()] == []
