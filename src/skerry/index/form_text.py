"""Parts of a form as text in DuckDB's dialect, with gaps for the constants: written once, filled often."""

import re
from collections.abc import Callable, Sequence

from sqlglot import exp

from skerry.index.form import Constant, Form
from skerry.model.dialect import write_expression

__all__ = ["FormText", "make_mark"]

_UNLIKELY = 7_130_470_291
_MARK = re.compile(rf"'{_UNLIKELY}#(\d+)'|(?<![\w.]){_UNLIKELY}(\d{{6}})(?:\.5|e0)?(?![\w.])")
"""A constant that nobody writes, with the index of the one that it stands for."""


class FormText:
    """A text made of a form's tree. If its constants cannot be found in it again, it is made anew each time.

    >>> import sqlglot
    >>> form = Form.of(sqlglot.parse_one("speed * 3.6 > 50"))
    >>> text = FormText(form, lambda: form.tree.this)
    >>> form.fill(["2", "70"])
    >>> text.write()
    'speed * 2'
    """

    def __init__(self, form: Form, make: Callable[[], exp.Expr]) -> None:
        self._form, self._make = form, make
        form.write_constants([make_mark(*each) for each in enumerate(form.constants)])
        tree = make()
        parts = _MARK.split(write_expression(tree))
        form.write()
        self._pieces = parts[::3]
        self.indexes = [int(text or number) for text, number in zip(parts[1::3], parts[2::3], strict=True)]
        """Which constants stand in the gaps, in order."""
        marked = sum(str(literal.this).startswith(str(_UNLIKELY)) for literal in tree.find_all(exp.Literal))
        self.has_gaps = marked == len(self.indexes) and not any(str(_UNLIKELY) in piece for piece in self._pieces)
        """Whether all constants were found."""

    def write(self) -> str:
        """With the constants that the form holds now."""
        if not self.has_gaps:
            self._form.write()
            return write_expression(self._make())
        return self.join([_write(self._form.constants[index]) for index in self.indexes])

    def join(self, constants: Sequence[str]) -> str:
        """With these texts in the gaps."""
        return "".join(text for pair in zip(self._pieces, (*constants, ""), strict=True) for text in pair)


def _write(constant: Constant) -> str:
    return constant if isinstance(constant, str) else ", ".join(constant)


def make_mark(index: int, constant: Constant) -> str:
    """A constant of the same kind that nobody writes: a text, or a number that is whole, has a point, or an exponent.

    >>> [make_mark(1, constant) for constant in ("'a'", "30", ("1.5", "2.5"), "5e-05")]
    ["'7130470291#1'", '7130470291000001', '7130470291000001.5', '7130470291000001e0']
    """
    text = constant if isinstance(constant, str) else constant[0]
    if text[0] == "'":
        return f"'{_UNLIKELY}#{index}'"
    fraction = "e0" if "e" in text.lower() else ".5" if "." in text else ""
    return f"{_UNLIKELY}{index:06}{fraction}"
