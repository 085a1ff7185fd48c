"""Rule programs in files."""

from pathlib import Path

from skerry.errors import InputError

__all__ = ["read_program_text"]


def read_program_text(path: Path) -> str:
    """What a file of rules holds."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"there is no rule program {str(path)!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the rule program {str(path)!r}: {error}") from None
