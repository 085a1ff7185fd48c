"""What DuckDB complains of, in a line, without its internal names."""

import re

__all__ = ["describe_complaint"]

_NAMES = {
    "INTEGER_LITERAL": "INTEGER",
    "STRING_LITERAL": "VARCHAR",
    "'~~(": "'LIKE(",
    "'!~~(": "'NOT LIKE(",
    "'~~*(": "'ILIKE(",
    "'!~~*(": "'NOT ILIKE(",
    "'~~~(": "'GLOB(",
}
_ADVICE = re.compile(r"\. (In order to select one, please|You might need to) add explicit type casts\.$")


def describe_complaint(error: Exception) -> str:
    """The first sentence of an error of DuckDB's.

    >>> print(describe_complaint(Exception("Binder Error: No function matches '~~(DATE, STRING_LITERAL)'")))
    no function matches 'LIKE(DATE, VARCHAR)'
    """
    line = str(error).splitlines()[0].split(": ", 1)[-1]
    if "expression depth" in line:
        return "the expression is nested too deeply"
    for name, plain in _NAMES.items():
        line = line.replace(name, plain)
    line = _ADVICE.sub("; a cast may help, CAST(x AS DOUBLE)", line)
    is_shout = line[1:2].isupper()
    return (line if is_shout else line[:1].lower() + line[1:]) or "the expression is wrong"
