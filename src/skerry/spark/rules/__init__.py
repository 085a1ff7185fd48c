"""Rule programs over facts too many for one process: semi-naive rounds over DataFrames."""

from skerry.spark.rules.derive_files import derive, find_run_obstacle

__all__ = ["derive", "find_run_obstacle"]
