"""The options of a file source, checked."""

from collections.abc import Mapping
from dataclasses import dataclass

from skerry.errors import OptionError

__all__ = ["FileOptions"]

_KNOWN = ("delimiter", "header", "max_line_bytes", "path")
_TRUTH = {"true": True, "false": False}
_MOST_LINE_BYTES = 1 << 30


@dataclass(frozen=True)
class FileOptions:
    """Where the files are, and how text in them is laid out.

    >>> FileOptions.parse({"path": "data/*.csv", "delimiter": ";"})
    FileOptions(path='data/*.csv', delimiter=';', header=True, max_line_bytes=1048576)
    >>> FileOptions.parse({"path": "data/*.csv", "separator": ";"})
    Traceback (most recent call last):
    ...
    skerry.errors.OptionError: unknown option 'separator' of connector 'file'; it has delimiter, header, ...
    """

    path: str
    delimiter: str = ","
    header: bool = True
    max_line_bytes: int = 1 << 20

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> "FileOptions":
        """Read options as they stand behind WITH."""
        for name in options:
            if name not in _KNOWN:
                raise OptionError(f"unknown option {name!r} of connector 'file'; it has {', '.join(_KNOWN)}")
        if not options.get("path"):
            raise OptionError("option path of connector 'file' is missing; give one such as 'data/traffic/*.csv'")
        return cls(
            path=options["path"],
            delimiter=_delimiter(options.get("delimiter", ",")),
            header=_header(options.get("header", "true")),
            max_line_bytes=_line_bytes(options.get("max_line_bytes", str(cls.max_line_bytes))),
        )


def _delimiter(text: str) -> str:
    r"""Take one character; a tab may be written as ``\t``."""
    found = "\t" if text == r"\t" else text
    if len(found) != 1 or not found.isascii() or found in '"\r\n\0':
        raise _wrong("delimiter", "must be one ASCII character, no quote and no line end", text)
    return found


def _header(text: str) -> bool:
    if text.lower() not in _TRUTH:
        raise _wrong("header", "must be 'true' or 'false'", text)
    return _TRUTH[text.lower()]


def _line_bytes(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and 1 <= int(text) <= _MOST_LINE_BYTES):
        raise _wrong("max_line_bytes", f"must be a whole number from 1 to {_MOST_LINE_BYTES}", text)
    return int(text)


def _wrong(name: str, needs: str, got: str) -> OptionError:
    return OptionError(f"option {name} of connector 'file' {needs}; got {got!r}")
