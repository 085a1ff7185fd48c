"""Why a view made of rules says what it says at some moment."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from skerry.deduce.builtins import Builtins
from skerry.deduce.deduction import next_tick
from skerry.deduce.engine import Engine
from skerry.deduce.why import Why
from skerry.errors import InputError
from skerry.lang.rules.question import read_question
from skerry.model.time import START_OF_TIME, Micros
from skerry.plan.deduce import Deduce
from skerry.plan.node import Node
from skerry.plan.program import MICROSECONDS
from skerry.plan.view import ViewPlan

__all__ = ["explain_why"]

Rows = Callable[[Sequence[ViewPlan]], Mapping[str, pa.RecordBatch]]
"""What gives all answers of some views, by name."""


def explain_why(view: ViewPlan, question: str, at: Micros | None, rows: Rows) -> str:
    """The proof of a tuple as of a moment, or as of the last reading; or why it does not hold then."""
    node = _find_deduce(view.root)
    if node is None:
        raise InputError(f"view {view.name!r} is not made of rules")
    relations = {f"facts {position}": relation for position, relation in enumerate(node.relations)}
    found = rows([ViewPlan(name, relation) for name, relation in relations.items()])
    facts, read = node.facts, [found[name] for name in relations]
    starts = [each.starts(batch) for each, batch in zip(facts, read, strict=True)]
    ticks = [next_tick(each, node.slide_us) for each in starts]
    last = max((int(each.max()) for each in ticks if each.size), default=START_OF_TIME)
    now = last if at is None else at // node.slide_us * node.slide_us
    held = {}
    for each, batch, since, tick in zip(facts, read, starts, ticks, strict=True):
        there = (tick <= now) & (each.ends(since) >= now)
        held[each.predicate] = each.of(batch.filter(pa.array(np.asarray(there))))
    with Builtins(node.program.program.functions, node.modules, Path(node.folder)) as builtins:
        engine = Engine(node.program, builtins, MICROSECONDS)
        engine.tick_batches(now, held)
        asked = read_question(question, node.program, MICROSECONDS)
        return Why(node.program, engine.rows, builtins, MICROSECONDS).explain(asked)


def _find_deduce(node: Node) -> Deduce | None:
    """The rules that a view stands on, if there is nothing but them below its projections."""
    while not isinstance(node, Deduce) and len(node.inputs) == 1:
        (node,) = node.inputs
    return node if isinstance(node, Deduce) else None
