"""The views of a run, as of a version, and what changes from one version to the next: as text, to be kept.

A *group* is what one plan answers: one view, or views that share a join or an aggregate. Its number stays with it, and
no other has it after it: state is kept by numbers.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from skerry.catalog import View

__all__ = ["Group", "ViewChange", "ViewSet"]


@dataclass(frozen=True)
class Group:
    """Views that one plan answers, as they were when it was made, and those of them that have left since."""

    number: int
    views: tuple[View, ...]
    read: tuple[View, ...] = ()
    """The views that they read."""
    gone: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The views that are answered still."""
        return [view.name for view in self.views if view.name not in self.gone]

    def without(self, names: Iterable[str]) -> "Group":
        """The same after some views have left."""
        return replace(self, gone=(*self.gone, *names))

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Group":
        """What ``dataclasses.asdict`` spelled out, through JSON and back."""
        views, read = (tuple(View(**view) for view in record[part]) for part in ("views", "read"))
        return cls(record["number"], views, read, tuple(record["gone"]))


@dataclass(frozen=True)
class ViewChange:
    """What a version changes: the groups that come with it, and the views that leave theirs."""

    version: int
    catalogue: int
    """The changes of the catalogue that it takes up are those until this one."""
    came: tuple[Group, ...] = ()
    went: tuple[tuple[int, str], ...] = ()
    """The number of its group, and a view's name."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """The sources that are read from this version on, and what they are."""

    @property
    def came_names(self) -> list[str]:
        """The views that come."""
        return [name for group in self.came for name in group.names]

    @property
    def went_names(self) -> list[str]:
        """The views that go."""
        return [name for _, name in self.went]

    def to_json(self) -> dict[str, Any]:
        """As it is written down."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "ViewChange":
        """What was written down."""
        came = tuple(map(Group.from_json, record["came"]))
        went = tuple((number, name) for number, name in record["went"])
        return cls(record["version"], record["catalogue"], came, went, record["sources"])


@dataclass(frozen=True)
class ViewSet:
    """All views of a run as of a version.

    >>> first = ViewSet(0, 0, {0: Group(0, (View("slow"), View("fast")))}, 1)
    >>> second = first.then(ViewChange(1, 3, (Group(1, (View("mean"),)),), ((0, "slow"),)))
    >>> sorted(second.numbers), second.next_number
    (['fast', 'mean'], 2)
    """

    version: int
    catalogue: int
    groups: Mapping[int, Group] = field(default_factory=dict)
    next_number: int = 0
    sources: Mapping[str, str] = field(default_factory=dict)
    """What is read, and what it is."""
    streams: tuple[str, ...] = ()
    """The sources whose subscriptions are answered: those that the run began with."""

    @property
    def numbers(self) -> dict[str, int]:
        """The number of each view's group."""
        return {name: number for number, group in self.groups.items() for name in group.names}

    def then(self, change: ViewChange) -> "ViewSet":
        """The views after a change."""
        groups = dict(self.groups)
        for number, name in change.went:
            groups[number] = groups[number].without([name])
        groups |= {group.number: group for group in change.came}
        kept = {number: group for number, group in groups.items() if group.names}
        following = max([self.next_number, *(group.number + 1 for group in change.came)])
        return ViewSet(
            change.version, change.catalogue, kept, following, {**self.sources, **change.sources}, self.streams
        )

    def to_json(self) -> dict[str, Any]:
        """As it is written down."""
        return {**asdict(self), "groups": [asdict(group) for group in self.groups.values()]}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "ViewSet":
        """What was written down."""
        groups = {each["number"]: Group.from_json(each) for each in record["groups"]}
        known = {name: record[name] for name in ("version", "catalogue", "next_number", "sources")}
        return cls(groups=groups, streams=tuple(record["streams"]), **known)
