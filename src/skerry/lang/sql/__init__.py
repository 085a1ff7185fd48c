"""SQL, read by sqlglot in RisingWave's dialect."""

from skerry.lang.sql.script import Session

__all__ = ["Session"]
