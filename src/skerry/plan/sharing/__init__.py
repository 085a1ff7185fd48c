"""Many views that are alike, answered together: by one join or aggregate, and of equal views by one of them."""

from skerry.plan.sharing.copies import Copy, find_copies
from skerry.plan.sharing.groups import FEWEST_INDEXED, share
from skerry.plan.sharing.leave import leave

__all__ = ["FEWEST_INDEXED", "Copy", "find_copies", "leave", "share"]
