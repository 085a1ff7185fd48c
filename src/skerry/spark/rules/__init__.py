"""Rule programs over facts too many for one process: semi-naive rounds over DataFrames."""

from skerry.spark.rules.fitting import typed, unfit
from skerry.spark.rules.rounds import model

__all__ = ["model", "typed", "unfit"]
