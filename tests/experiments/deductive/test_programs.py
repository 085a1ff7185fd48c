from pathlib import Path

import pytest

from skerry.deduce.checks import check
from skerry.experiments.deductive.programs import PROGRAMS, write_program
from skerry.lang.rules import read

EXAMPLES = Path(__file__).parents[3] / "examples" / "rules"


@pytest.mark.parametrize("name", PROGRAMS)
def test_rules_are_those_of_the_examples(name):
    example = check(read((EXAMPLES / f"{name}.dl").read_text()))
    assert write_program(name, root=0, diameter=64).rules == example.rules
