"""What stands beside a constant: it decides in which type DuckDB takes the constant."""

from sqlglot import exp

__all__ = ["ARITHMETIC", "COMPARISONS", "find_beside"]

COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod)
_PATTERNS = (exp.Like, exp.ILike, exp.StartsWith)
_CALLS_WITH_PATTERNS = ("contains", "prefix", "starts_with", "suffix", "ends_with")


def find_beside(literal: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    """What a constant is compared, computed or matched with, and by what; None if it stands elsewhere.

    >>> import sqlglot
    >>> operand, by = find_beside(sqlglot.parse_one("speed * 2 > (-30.5)").find(exp.Neg).this)
    >>> operand.sql(), by.key
    ('speed * 2', 'gt')
    """
    node = literal.parent if isinstance(literal.parent, exp.Neg) else literal
    parent = node.parent
    while isinstance(parent, exp.Paren):
        node, parent = parent, parent.parent
    if parent is None:
        return None
    operand = _other_operand(parent, node)
    return None if operand is None else (operand, parent)


def _other_operand(parent: exp.Expr, node: exp.Expr) -> exp.Expr | None:
    if isinstance(parent, exp.Between | exp.In) and node is not parent.this:
        return parent.this
    if isinstance(parent, (*COMPARISONS, *ARITHMETIC)):
        return parent.expression if node is parent.this else parent.this
    if isinstance(parent, _PATTERNS) and node is parent.expression:
        return parent.this
    is_call = isinstance(parent, exp.Anonymous) and parent.name.lower() in _CALLS_WITH_PATTERNS
    if is_call and len(parent.expressions) == 2 and node is parent.expressions[1]:
        return parent.expressions[0]
    return None
