"""Rule programs over facts too many for one process: semi-naive rounds over DataFrames."""

from skerry.spark.rules.derive_files import Answers, derive, find_run_obstacle

__all__ = ["Answers", "derive", "find_run_obstacle"]
