"""Rule programs as operators."""

from pathlib import Path

from skerry.deduce.builtins import Builtins
from skerry.deduce.deduction import Deduction
from skerry.deduce.engine import Engine
from skerry.operators.operator import Operator
from skerry.plan.deduce import Deduce
from skerry.plan.program import MICROSECONDS

__all__ = ["build_deduction"]


def build_deduction(view: str, node: Deduce) -> Operator:
    """The operator of a rule program."""
    builtins = Builtins(node.program.program.functions, node.modules, Path(node.folder))
    engine = Engine(node.program, builtins, MICROSECONDS)
    return Deduction(node.facts, engine, node.output.predicate, node.output.mode, node.slide_us)
