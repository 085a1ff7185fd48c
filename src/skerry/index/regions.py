"""Regions of many predicates: a form that many share is read once."""

from collections.abc import Sequence

import pyarrow as pa

from skerry.index.alike_regions import make_alike_regions
from skerry.index.constants import Evaluator
from skerry.index.form import Constant, Form
from skerry.index.operands import Derive
from skerry.index.region import AlikeRegions, Region
from skerry.index.region_from_predicate import RegionTemplate
from skerry.model.arrays import Int64s

__all__ = ["Regions"]


class Regions:
    """Makes the regions of predicates over one schema.

    >>> import duckdb, sqlglot
    >>> regions = Regions(pa.schema({"speed": pa.int32()}), duckdb.connect, lambda sql: None)
    >>> regions.make(Form.of(sqlglot.parse_one("speed < 30"))).is_exact
    True
    """

    def __init__(self, schema: pa.Schema, evaluator: Evaluator, derive: Derive) -> None:
        self._schema, self._evaluator, self._derive = schema, evaluator, derive
        self._templates: dict[Form, RegionTemplate] = {}

    def make(self, form: Form) -> Region:
        """The region of the predicate that a form is now."""
        return self._find_template(form).make_region()

    def make_many(
        self, form: Form, columns: Sequence[Sequence[Constant]], positions: Int64s
    ) -> tuple[list[AlikeRegions], list[int]]:
        """The regions of predicates of a form, by their constants; and which of them must be read one by one."""
        return make_alike_regions(self._find_template(form), form, columns, positions)

    def _find_template(self, form: Form) -> RegionTemplate:
        template = self._templates.get(form)
        if template is None:
            template = RegionTemplate(form, self._schema, self._evaluator, self._derive)
            if form.is_shared:
                self._templates[form] = template
        return template
