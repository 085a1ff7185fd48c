"""Rule programs over facts too many for one process: semi-naive rounds over DataFrames."""

from skerry.spark.rules.derive_files import derived, unfit_run

__all__ = ["derived", "unfit_run"]
