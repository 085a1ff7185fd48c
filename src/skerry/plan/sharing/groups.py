"""Which views are answered together."""

from collections.abc import Sequence

from skerry.build.stages import FEWEST_INDEXED
from skerry.plan.nodes import ViewPlan
from skerry.plan.sharing.aggregates import AggregateMember
from skerry.plan.sharing.joins import JoinMember
from skerry.plan.sharing.member import Member

__all__ = ["share"]


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
