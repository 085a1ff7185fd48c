"""Which views are answered together."""

from collections.abc import Sequence

from skerry.plan.sharing.aggregates import AggregateMember
from skerry.plan.sharing.joins import JoinMember
from skerry.plan.sharing.member import Member
from skerry.plan.view import ViewPlan

__all__ = ["FEWEST_INDEXED", "share"]

FEWEST_INDEXED = 8
"""From so many views on that only select from one stream, or share a join or aggregate, the query index asks them
together."""


def share(views: Sequence[ViewPlan]) -> list[ViewPlan]:
    """The same views, those that are alike and many as one plan, in the place of the first of them."""
    groups: dict[object, list[Member]] = {}
    for member in (JoinMember.of(view) or AggregateMember.of(view) for view in views):
        if member:
            groups.setdefault(member.alike, []).append(member)
    shared = {members[0].view.name: members for members in groups.values() if len(members) >= FEWEST_INDEXED}
    within = {member.view.name for members in shared.values() for member in members}
    alone_or_first = [view for view in views if view.name in shared or view.name not in within]
    return [_together(shared[view.name]) if view.name in shared else view for view in alone_or_first]


def _together(members: Sequence[Member]) -> ViewPlan:
    return members[0].together(members)
