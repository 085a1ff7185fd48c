"""Text files that are not UTF-8: which encoding they seem to have, and how to change it."""

import codecs

__all__ = ["explain_encoding"]

_MARKS = {codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16"}


def explain_encoding(path: str, head: bytes) -> str | None:
    """What to do about a file that begins with these bytes; None if they are UTF-8.

    >>> explain_encoding("a.csv", "Gerät".encode("latin1"))
    "'a.csv' is not UTF-8 but LATIN1, it seems; convert it: iconv -f LATIN1 -t UTF-8 a.csv > utf8-a.csv"
    """
    found = next((name for mark, name in _MARKS.items() if head.startswith(mark)), None)
    if found is None and head[:2].count(0) == 1:
        found = "UTF-16LE" if head[1] == 0 else "UTF-16BE"
    if found is None:
        try:
            codecs.getincrementaldecoder("utf-8")().decode(head)  # its last character may be cut
        except UnicodeDecodeError:
            found = "LATIN1"
        else:
            return None
    folder, slash, name = path.rpartition("/")
    convert = f"iconv -f {found} -t UTF-8 {path} > {folder}{slash}utf8-{name}"
    return f"{path!r} is not UTF-8 but {found}, it seems; convert it: {convert}"
