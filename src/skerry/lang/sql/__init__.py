"""SQL, read by sqlglot: RisingWave's statements around DuckDB's expressions."""

from skerry.lang.sql.script import Session

__all__ = ["Session"]
