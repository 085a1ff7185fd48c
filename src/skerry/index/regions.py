"""Regions of many predicates: a form that many share is read once."""

import pyarrow as pa

from skerry.index.constants import Evaluator
from skerry.index.form import Form
from skerry.index.operands import Derive
from skerry.index.region import Region
from skerry.index.region_from_predicate import RegionTemplate

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
        template = self._templates.get(form)
        if template is None:
            template = RegionTemplate(form, self._schema, self._evaluator, self._derive)
            if form.is_shared:
                self._templates[form] = template
        return template.make_region()
