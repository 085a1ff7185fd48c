"""The slow twin of ``kernels.index.split_constants``: by regular expressions, a text at a time."""

import re

_WORD = r"[\w\u0080-\U0010ffff]"
_TEXT = r"'[^']*(?:''[^']*)*'"
_NUMBER = rf"(?<!{_WORD})(?<!\.)\d+(?:\.\d+)?(?:[eE][+-]?\d{{1,2}})?(?!{_WORD}|\.)"
_LISTED = "|".join(rf"{one}(?:\s*,\s*{one})+" for one in (_TEXT, r"\d+", r"\d+\.\d+"))
_PART = re.compile(rf"((?<=[iI][nN])(?<!{_WORD}[iI][nN])\s*\(\s*(?:{_LISTED})\s*\)|{_TEXT}|{_NUMBER})", re.ASCII)
_PLAIN = re.compile(rf"(?:{_WORD}|[\s.<>=!()+*/%,-])*", re.ASCII)


def split(text):
    """The form and the constants of a text; None if it is not plain."""
    pieces = _PART.split(text)
    if "\\" in text or not all(_is_plain(piece) for piece in pieces[::2]):
        return None
    starts = [found.start() for found in _PART.finditer(text) if found[0].startswith("'")]
    if any(re.search(f"{_WORD}$", text[:start], re.ASCII) for start in starts):
        return None
    constants = pieces[1::2]
    pieces[1::2] = [_blank(part) for part in constants]
    return "".join(pieces), constants


def _is_plain(piece):
    return _PLAIN.fullmatch(piece) is not None and "--" not in piece and "/*" not in piece


def _blank(part):
    if part.startswith("'"):
        return "''"
    if part[0].isdigit():
        return _blank_number(part)
    if "'" in part:
        return " ('',...)"
    longest = max(map(_blank_number, map(str.strip, part.strip()[1:-1].split(","))), key=len)
    return longest if longest == "00" else f" ({longest},...)"


def _blank_number(number):
    if "e" in number.lower():
        return "0e0"
    if "." in number:
        return "0.00" if len(number) >= 18 else "0.0"
    return "00" if len(number) >= 18 else "0"
