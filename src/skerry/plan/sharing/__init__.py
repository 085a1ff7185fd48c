"""Many views that are alike, answered together: one join or one aggregate for all of them."""

from skerry.plan.sharing.groups import FEWEST_INDEXED, share

__all__ = ["FEWEST_INDEXED", "share"]
