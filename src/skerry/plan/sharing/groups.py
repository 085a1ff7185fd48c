"""Which views are answered together."""

from collections.abc import Callable, Hashable, Sequence
from functools import partial

from skerry.plan.sharing.aggregates import AggregateMember
from skerry.plan.sharing.joins import JoinMember
from skerry.plan.sharing.member import Member
from skerry.plan.sharing.states import StateMember
from skerry.plan.view import ViewPlan

__all__ = ["FEWEST_INDEXED", "share"]

FEWEST_INDEXED = 8
"""From so many views on that only select from one stream, or share a join, the query index asks them together."""
_FEWEST_ALIKE = 2
"""From so many views on an aggregate, or an equal state, is shared: to tell few rows apart costs less than another."""


def share(views: Sequence[ViewPlan], *, sliced: bool = True) -> list[ViewPlan]:
    """The same views, those that are alike and many as one plan, in the place of the first of them.

    Without ``sliced``, aggregates share only if their windows are the same too, and if they are as many as joins: a
    network folds them on the way, by windows of one size.
    """
    found: list[list[Member]] = []
    left = list(views)

    def take(member_of: Callable[[ViewPlan], Member | None], fewest: int, key: str = "alike") -> None:
        """Group what is left, by what members have in common."""
        found.extend(group for group in _group(left, member_of, key) if len(group) >= fewest)
        within = {member.view.name for members in found for member in members}
        left[:] = [view for view in left if view.name not in within]

    take(JoinMember.of, FEWEST_INDEXED)
    take(partial(AggregateMember.of, sliced=sliced), _FEWEST_ALIKE if sliced else FEWEST_INDEXED)
    if sliced:
        take(JoinMember.of, _FEWEST_ALIKE, "same_rows")
        take(StateMember.of, _FEWEST_ALIKE)
    shared = {members[0].view.name: members for members in found}
    alone = {view.name for view in left}
    kept = [view for view in views if view.name in shared or view.name in alone]
    return [_together(shared[view.name]) if view.name in shared else view for view in kept]


def _group(views: Sequence[ViewPlan], member_of: Callable[[ViewPlan], Member | None], key: str) -> list[list[Member]]:
    """Views that have something in common."""
    groups: dict[Hashable, list[Member]] = {}
    for member in map(member_of, views):
        if member:
            groups.setdefault(getattr(member, key), []).append(member)
    return list(groups.values())


def _together(members: Sequence[Member]) -> ViewPlan:
    return members[0].together(members)
