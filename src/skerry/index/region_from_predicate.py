"""From a predicate to its region: a union of boxes, each perhaps with a residual."""

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod
from typing import Any

import pyarrow as pa
from sqlglot import exp

from skerry.index.constants import Evaluator, NotIndexable
from skerry.index.disjunctive_form import MOST_BOXES, Part, Term
from skerry.index.domains import Domain, domain_of
from skerry.index.form import Form
from skerry.index.operands import Derive, Operands, derive_nothing
from skerry.index.predicate_reader import PredicateReader
from skerry.index.region import Box, Operand, Region
from skerry.index.residual_template import ResidualTemplate
from skerry.index.value_set_column import Uneven, ValueSetColumn, decide
from skerry.index.value_sets import ValueSet

__all__ = ["RegionTemplate", "region_of"]


def region_of(tree: exp.Expr, schema: pa.Schema, evaluator: Evaluator, derive: Derive = derive_nothing) -> Region:
    """The region of a predicate over bound columns.

    A part that no box can express is left to DuckDB, and so is one that would take too many boxes. If there are
    several boxes and a part is left, the whole predicate is left: a part that fails on a row then fails it as if
    it were evaluated in one piece.

    >>> import duckdb, sqlglot
    >>> schema = pa.schema({"speed": pa.int32(), "plate": pa.string()})
    >>> (box,) = region_of(sqlglot.parse_one("speed > 30 AND plate LIKE '%7'"), schema, duckdb.connect).boxes
    >>> box.sides
    {'speed': ValueSet(spans=((31, 2147483648),), null=False)}
    >>> box.residual.sql
    "plate LIKE '%7'"
    """
    return RegionTemplate(Form.of(tree), schema, evaluator, derive).make_region()


class RegionTemplate:
    """The regions of all predicates of a form. It is read once; a region is made of the form's present constants.

    If these are columns, so is the region: its sets are ``ValueSetColumn``. ``Uneven`` if they differ in shape.
    """

    def __init__(self, form: Form, schema: pa.Schema, evaluator: Evaluator, derive: Derive = derive_nothing) -> None:
        self._form, self._schema, self._evaluator = form, schema, evaluator
        self._truth = PredicateReader(form, Operands(form, schema, evaluator, derive), evaluator).read(form.tree)
        self._residuals: dict[tuple[tuple[int, bool], ...], ResidualTemplate] = {}

    def make_region(self) -> Region:
        """The region of the predicate that the form is now."""
        terms = self._truth.true()
        if len(terms) == 1 and _is_box(terms[0]):
            return Region((Box(terms[0].sides),))
        whole = (Part(self._form.tree),)
        if len(terms) > 1 and any(term.residual for term in terms):
            terms = tuple(Term(term.sides, whole) for term in terms)
        most = MOST_BOXES // max(len(terms), 1)
        return Region(tuple(box for term in terms for box in self._make_boxes(term, whole, most)))

    def _make_boxes(self, term: Term, whole: tuple[Part, ...], most: int) -> Iterable[Box]:
        """A term as ``most`` boxes at the most: one long list of values may be a list, others become wider sides.

        With wider sides, the whole predicate is the residual.
        """
        pieces: dict[Operand, Sequence[Any]] = {
            # Of a long list, how long it is will do: it cannot become boxes.
            operand: values.spans if len(values.spans) > most else self._split_spans(operand, values)
            for operand, values in term.sides.items()
        }
        residual, listed = term.residual, None
        while prod(map(len, pieces.values())) > most:
            widest = max(pieces, key=lambda operand: len(pieces[operand]))
            values = term.sides[widest]
            del pieces[widest]
            if isinstance(values, ValueSetColumn):
                raise Uneven
            if listed is None and not values.null and _are_points(values):
                listed = (widest, values)
                continue
            residual, hull = whole, self._split_spans(widest, values.hull)
            if len(hull) == 1:
                pieces[widest] = hull
        template = self._find_template(residual)
        left, contained = (template.fill(), template.find_contained()) if template else (None, None)
        sides = (dict(zip(pieces, chosen, strict=True)) for chosen in product(*pieces.values()))
        return [Box(each, left, listed, contained) for each in sides]

    def _find_template(self, parts: tuple[Part, ...]) -> ResidualTemplate | None:
        if not parts:
            return None
        key = tuple((id(part.tree), part.negated) for part in parts)
        if key not in self._residuals:
            self._residuals[key] = ResidualTemplate(self._form, parts, self._schema, self._evaluator)
        return self._residuals[key]

    def _split_spans(self, operand: Operand, values: ValueSet) -> list[ValueSet]:
        """One set per span. NULL comes right below the least value, in a set of its own if that is not included."""
        if len(values.spans) == 1 and not values.null:
            return [values]
        pieces = [type(values)((span,)) for span in values.spans]
        if not values.null:
            return pieces
        type_ = self._schema.field(operand).type if isinstance(operand, str) else operand.type
        if pieces and decide(values.spans[0][0] == _domain(type_).low):
            return [pieces[0]._replace(null=True), *pieces[1:]]
        return [ValueSet((), null=True), *pieces]


def _is_box(term: Term) -> bool:
    """Whether each side is one span, and nothing else is asked."""
    return not term.residual and not any(len(values.spans) != 1 or values.null for values in term.sides.values())


def _are_points(values: ValueSet) -> bool:
    """Whether each span is one value, or few."""
    if isinstance(values.spans[0][0], bytes):
        return all(high == low + b"\0" for low, high in values.spans)
    return all(high - low <= MOST_BOXES for low, high in values.spans)


def _domain(type_: pa.DataType) -> Domain:
    found = domain_of(type_)
    if found is None:
        raise NotIndexable
    return found
