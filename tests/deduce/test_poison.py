"""No program can hold up the others: each of these is refused or stopped, and says why by a code."""

import csv
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from skerry.cli import app
from skerry.deduce import allowance as allowance_module
from skerry.deduce.builtins import Builtins
from skerry.deduce.checks import check
from skerry.deduce.engine import Engine
from skerry.errors import RuleError, RuleLimit, RunError
from skerry.lang.rules import read
from skerry.plan.limits import Limits
from skerry.testing.reference_rules import Reference
from tests.deduce.poison import BUILTINS, REFUSED, STOPPED

TIGHT = Limits(stages=100, list_length=50, tuples=5_000, seconds=1.0)
"""As the limits that programs have, but reached sooner."""


@pytest.mark.parametrize("poison", REFUSED.values(), ids=REFUSED)
def test_program_is_refused(poison):
    with pytest.raises(RuleError) as caught:
        Builtins(check(read(poison.text)).program.functions)
    assert caught.value.code == poison.code


@pytest.mark.parametrize("engine", [Engine, Reference])
@pytest.mark.parametrize("poison", STOPPED.values(), ids=STOPPED)
def test_program_is_stopped_and_its_tick_taken_back(tmp_path, poison, engine):
    (tmp_path / "poisoned.py").write_text(BUILTINS)
    checked = check(replace(read(poison.text), limits=TIGHT))
    with Builtins(checked.program.functions, ["poisoned"], tmp_path, seconds=0.5) as builtins:
        running = engine(checked, builtins)
        with pytest.raises(RuleLimit) as caught:
            running.tick(None, poison.facts, {})
        assert caught.value.code == poison.code
        assert not any(running.rows(name) for name in checked.predicates)
        with pytest.raises(RunError, match="stopped"):
            running.tick(None, {}, {})


@pytest.mark.soak
@pytest.mark.parametrize("poison", [*REFUSED.values(), *STOPPED.values()], ids=[*REFUSED, *STOPPED])
def test_command_tells_the_code(tmp_path, poison, monkeypatch):
    """With the limits that programs have on a small machine: some of these take half a minute."""
    monkeypatch.setattr(allowance_module, "find_available_bytes", lambda: 1 << 30)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "poisoned.py").write_text(BUILTINS)
    (tmp_path / "skerry.toml").write_text('[rules]\nbuiltins = ["poisoned"]\n')
    (tmp_path / "poison.dl").write_text(poison.text)
    for name in ("a", "b", "e"):
        with (tmp_path / f"{name}.facts").open("w", newline="") as file:
            csv.writer(file, "excel-tab", lineterminator="\n").writerows(poison.facts.get(name, ()))
    result = CliRunner().invoke(app, ["rules", "run", "poison.dl", "--facts", "."])
    assert result.exception.code == poison.code
