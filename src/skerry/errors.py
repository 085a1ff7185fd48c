"""Everything Skerry raises, drawn as a tree.

    SkerryError
    ├── InputError              the user's text, options or files are wrong      exit code 2
    │   ├── SqlError            a statement cannot be read, or means nothing; knows its line and column
    │   │   ├── UnknownStream   a query names a stream that the catalogue does not hold
    │   │   ├── UnknownColumn   a query names a column that its stream does not have
    │   │   └── UnknownFunction a query calls a function that Skerry does not offer
    │   ├── RuleError           a rule program cannot be read, or may not run; knows its code, rule and location
    │   ├── OptionError         an option in WITH (...) or on the command line
    │   ├── SourceError         a file or connector cannot be opened or does not fit its declaration
    │   ├── CatalogError        a name is taken, or is not there
    │   └── CheckpointError     a file of a checkpoint is damaged, missing, or of another run
    ├── SetupError              the machine lacks something; says the command that mends it
    ├── RunError                the pipeline failed or disagrees with itself
    │   ├── WaitTimeout         what somebody waited for has not come in time; the run goes on
    │   └── LimitError          a view asks for more than it is allowed; it stops, the others go on
    │       └── RuleLimit       a rule program reached a limit while it ran: E401
    │           └── MemoryLimit the limit is that of the memory there is; nobody has set it
    └── KernelError             a kernel was called with arrays that do not fit together

Arguments are kept raw, so that an error survives pickling on its way from a Spark worker, and are
put into words by ``__str__``. Only the command line and the server catch ``SkerryError``.
"""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = [
    "CatalogError",
    "CheckpointError",
    "InputError",
    "KernelError",
    "LimitError",
    "Location",
    "MemoryLimit",
    "OptionError",
    "RuleError",
    "RuleLimit",
    "RunError",
    "SetupError",
    "SkerryError",
    "SourceError",
    "SqlError",
    "UnknownColumn",
    "UnknownFunction",
    "UnknownStream",
    "WaitTimeout",
]


class SkerryError(Exception):
    """The root: catch this to catch all that Skerry raises on purpose."""

    def __str__(self) -> str:
        """Join the raw arguments into one line."""
        return " ".join(str(argument) for argument in self.args)


class InputError(SkerryError):
    """What the user wrote is wrong; nothing was done."""


@dataclass(frozen=True)
class Location:
    """Where in a text: a line and a column, both from 1.

    >>> str(Location(3, 7))
    'line 3, column 7'
    """

    line: int
    column: int

    def __str__(self) -> str:
        """Say it as an editor would."""
        return f"line {self.line}, column {self.column}"


class SqlError(InputError):
    """A statement that cannot be read or bound. Arguments: message, location or None."""

    def __init__(self, message: str, location: Location | None = None) -> None:
        super().__init__(message, location)

    def __str__(self) -> str:
        """Say where first, then what."""
        message, location = self.args[0], self.args[-1]
        return f"{location}: {message}" if location else str(message)


def _list_names(known: Iterable[str]) -> str:
    return ", ".join(known) or "none"


class UnknownStream(SqlError):
    """A query names a stream that the catalogue does not hold."""

    def __init__(self, name: str, known: Iterable[str], location: Location | None = None) -> None:
        InputError.__init__(self, name, sorted(known), location)

    def __str__(self) -> str:
        """Name the stream, and the streams there are."""
        name, known, location = self.args
        message = f"unknown stream {name!r}; the catalogue has {_list_names(known)}"
        return f"{location}: {message}" if location else message


class UnknownColumn(SqlError):
    """A query names a column that its stream does not have."""

    def __init__(
        self,
        name: str,
        stream: str,
        known: Iterable[str],
        location: Location | None = None,
        is_quoted: bool = False,
    ) -> None:
        InputError.__init__(self, name, stream, list(known), location, is_quoted)

    def __str__(self) -> str:
        """Name the column, and the columns there are."""
        name, stream, known, location, is_quoted = self.args
        is_text = is_quoted and name.lower() not in map(str.lower, known)
        text = f"; a text stands in single quotes: '{name}'" if is_text else ""
        message = f"unknown column {name!r}; {stream} has {_list_names(known)}{text}"
        return f"{location}: {message}" if location else message


class UnknownFunction(SqlError):
    """A query calls a function that Skerry does not offer."""

    def __init__(self, name: str, near: Iterable[str], location: Location | None = None) -> None:
        InputError.__init__(self, name, list(near), location)

    def __str__(self) -> str:
        """Name the function, and the ones that look like it."""
        name, near, location = self.args
        own = "one of your own is made with create_function, by the Python program that runs the query"
        message = f"unknown function {name!r}; " + (f"did you mean {_list_names(near)}?" if near else own)
        return f"{location}: {message}" if location else message


def _in_rule(code: str, message: str, fix: str, rule: int | None, location: Location | None) -> str:
    where = ", ".join(part for part in (location and str(location), rule and f"rule {rule}") if part)
    return f"{code} {where}{': ' if where else ''}{message}" + (f"; {fix}" if fix else "")


class RuleError(InputError):
    """A rule program that cannot be read, or may not run. Arguments: code, message, fix, rule number, location.

    >>> print(RuleError("E102", "'_' stands in a head", "name a variable of the body", 2, Location(3, 5)))
    E102 line 3, column 5, rule 2: '_' stands in a head; name a variable of the body
    """

    def __init__(
        self, code: str, message: str, fix: str = "", rule: int | None = None, location: Location | None = None
    ) -> None:
        super().__init__(code, message, fix, rule, location)

    @property
    def code(self) -> str:
        """Which check refused it: the table is in docs/rules.md."""
        return str(self.args[0])

    def __str__(self) -> str:
        """Say the code, where, what, and what to do."""
        return _in_rule(*self.args)


class OptionError(InputError):
    """An option has a wrong name or a wrong value."""


class SourceError(InputError):
    """A source cannot be opened, or does not fit its declaration."""


class CatalogError(InputError):
    """A name is taken already, or is not there."""


class CheckpointError(InputError):
    """A file of a checkpoint is not as it was written, so no run can go on from it. Arguments: path, what is wrong.

    >>> print(CheckpointError("kept/run.json", "is missing"))
    the checkpoint file 'kept/run.json' is missing; put back a good copy, or start anew with another --checkpoint folder
    """

    def __init__(self, path: str, fault: str) -> None:
        super().__init__(path, fault)

    def __str__(self) -> str:
        """Name the file, what is wrong with it, and the ways out."""
        path, fault = self.args
        way_out = "put back a good copy, or start anew with another --checkpoint folder"
        return f"the checkpoint file {path!r} {fault}; {way_out}"


class SetupError(SkerryError):
    """The machine lacks something; the message ends in the command that mends it."""


class RunError(SkerryError):
    """A pipeline failed, or two runs that must agree do not."""


class WaitTimeout(RunError):
    """What somebody waited for has not come in time. The run goes on, and can be waited for again."""


class LimitError(RunError):
    """One view takes more memory or gives more answers than it may."""


class RuleLimit(LimitError):
    """A rule program reached a limit while it ran; its tick is taken back. Arguments: message, fix, rule, code.

    >>> print(RuleLimit("'p' has more than 10 tuples", "declare a limit", 2))
    E401 rule 2: 'p' has more than 10 tuples; declare a limit
    """

    def __init__(self, message: str, fix: str = "", rule: int | None = None, code: str = "E401") -> None:
        super().__init__(message, fix, rule, code)

    @property
    def code(self) -> str:
        """E401, or E402 where a built-in failed."""
        return str(self.args[3])

    def __str__(self) -> str:
        """Say the code, where, what, and what to do."""
        message, fix, rule, code = self.args
        return _in_rule(code, message, fix, rule, None)


class MemoryLimit(RuleLimit):
    """A rule program takes more than its share of the memory there is."""


class KernelError(SkerryError):
    """Arrays that do not fit together were given to a kernel."""
