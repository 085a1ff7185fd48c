"""A bounded join as its rules say it: lists that are searched from end to end, and a class a policy.

A tuple arrives, and in this order: if its window is full, those that have ended leave it, the first to
arrive first; if it is full still, a victim does; the tuple is put in; the policy admits it; its answers
are found; the policy credits them.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import product

from tests.oracles.joins import Tuple

Answer = tuple[Tuple, ...]
"""One tuple a stream."""


class Policy:
    """Ranks tuples: the one with the lowest rank leaves, and of equals the first to have arrived.

    Without more, all are equal.
    """

    def admit(self, arrival: Tuple, held: Sequence[Tuple]) -> None:
        """Learn of a tuple that was put in; ``held`` has it and all others, in order of arrival."""

    def credit(self, answers: Sequence[Answer]) -> None:
        """Learn of the answers of an arrival."""

    def rank(self, candidate: Tuple, held: Sequence[Tuple]) -> tuple[float, int]:
        """Priority, and the number of its class."""
        return 0, 0

    def victim(self, stream: int, held: Sequence[Tuple], spared: Iterable[Tuple] = ()) -> Tuple | None:
        """Who leaves a full window, unless all are spared."""
        candidates = [each for each in held if each.stream == stream and each not in spared]
        return min(candidates, key=lambda each: self.rank(each, held), default=None)


class Oldest(Policy):
    """All are equal indeed."""


class Random(Policy):
    def __init__(self, choose: Callable[[Sequence[Tuple]], Tuple]) -> None:
        self._choose = choose

    def victim(self, stream: int, held: Sequence[Tuple], spared: Iterable[Tuple] = ()) -> Tuple | None:
        candidates = [each for each in held if each.stream == stream and each not in spared]
        return self._choose(candidates) if candidates else None


class Pattern(Policy):
    """Classes are existence patterns, numbered stream by stream as they are first seen.

    Those without answers are all equal, the full one too.

    A stream is in the pattern of a tuple if it holds another of its key that has not ended when it starts. With
    ``hashed``, the paper's table of bit vectors: if it holds any of the same hash, ended or not.
    """

    def __init__(self, stream_count: int, hashed: Callable[[Hashable], Hashable] | None = None) -> None:
        self._stream_count, self._hashed = stream_count, hashed
        self._patterns: dict[Tuple, frozenset[int]] = {}
        self._numbers: list[list[frozenset[int]]] = [[] for _ in range(stream_count)]
        self._arrived: Counter[tuple[int, frozenset[int]]] = Counter()
        self._answered: Counter[tuple[int, frozenset[int]]] = Counter()

    def admit(self, arrival: Tuple, held: Sequence[Tuple]) -> None:
        pattern = frozenset(each.stream for each in held if self._exists(each, arrival)) | {arrival.stream}
        self._patterns[arrival] = pattern
        self._arrived[arrival.stream, pattern] += 1
        if pattern not in self._numbers[arrival.stream]:
            self._numbers[arrival.stream].append(pattern)

    def credit(self, answers: Sequence[Answer]) -> None:
        for answer in answers:
            for member in answer:
                self._answered[member.stream, self._patterns[member]] += 1

    def rank(self, candidate: Tuple, held: Sequence[Tuple]) -> tuple[float, int]:
        pattern = self._patterns[candidate]
        if len(pattern) == self._stream_count:
            return 0.0, -1
        here = candidate.stream, pattern
        if not self._answered[here]:
            return 0.0, -1
        return self._answered[here] / self._arrived[here], self._numbers[candidate.stream].index(pattern)

    def _exists(self, other: Tuple, arrival: Tuple) -> bool:
        if self._hashed:
            return self._hashed(other.key) == self._hashed(arrival.key)
        return other.key == arrival.key and other.end >= arrival.start


class _ByKey(Policy, ABC):
    """Classes are keys, numbered as they come into any window; one that had left all of them gets a new number."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._next = 0

    def admit(self, arrival: Tuple, held: Sequence[Tuple]) -> None:
        if sum(each.key == arrival.key for each in held) == 1:
            self._numbers[arrival.key] = self._next
            self._next += 1

    def rank(self, candidate: Tuple, held: Sequence[Tuple]) -> tuple[float, int]:
        return self.priority(candidate.key, held), self._numbers[candidate.key]

    @abstractmethod
    def priority(self, key: Hashable, held: Sequence[Tuple]) -> float:
        """What a key is worth."""


class Frequency(_ByKey):
    """How many tuples of the key all windows hold, ended or not, before the arrival is put in."""

    def priority(self, key: Hashable, held: Sequence[Tuple]) -> float:
        return sum(each.key == key for each in held)


class Output(_ByKey):
    """How many answers the key has had, ever; one that has had any keeps its number."""

    def __init__(self) -> None:
        super().__init__()
        self._answered: Counter[Hashable] = Counter()

    def admit(self, arrival: Tuple, held: Sequence[Tuple]) -> None:
        if not self._answered[arrival.key]:
            super().admit(arrival, held)

    def credit(self, answers: Sequence[Answer]) -> None:
        self._answered.update(answer[0].key for answer in answers)

    def priority(self, key: Hashable, held: Sequence[Tuple]) -> float:
        return self._answered[key]


class BoundedJoin:
    """A complete join whose window of stream i holds at most ``budgets[i]`` tuples.

    ``sampled`` says whose tuples are never shed: one that should have been is a ghost from then on, and the next
    victim goes instead. A window that is full of such tuples sheds the first that arrived.
    """

    def __init__(
        self, budgets: Sequence[int], policy: Policy, sampled: Callable[[Hashable], bool] = lambda key: False
    ) -> None:
        self._budgets, self._policy, self._sampled = budgets, policy, sampled
        self.held: list[Tuple] = []
        self.ghosts: set[Tuple] = set()
        self.received, self.shed, self.expired = ([0] * len(budgets) for _ in range(3))
        self.lost: Counter[Hashable] = Counter()
        """Answers with a ghost among their members, by key."""

    def join(self, tuples: Iterable[Tuple]) -> list[tuple[int, ...]]:
        """Take tuples in, give the rows of each answer that one of them completes."""
        return [tuple(member.row for member in answer) for each in tuples for answer in self._arrive(each)]

    def count(self, tuples: Iterable[Tuple]) -> float:
        """Take tuples in, give how many answers they complete."""
        return float(len(self.join(tuples)))

    def sweep(self, watermark: int) -> None:
        """Forget tuples that ended before ``watermark``; one that arrived after one that has not ended waits."""
        for stream in range(len(self._budgets)):
            self._expire(stream, watermark)

    def live(self, stream: int) -> list[int]:
        """The rows that a window holds, ghosts and those that ended too."""
        return sorted(each.row for each in self._window(stream))

    def _arrive(self, arrival: Tuple) -> list[Answer]:
        if arrival.start > arrival.end:
            return []
        stream = arrival.stream
        self.received[stream] += 1
        if self._is_full(stream):
            self._expire(stream, arrival.start)
        if self._is_full(stream):
            self._shed(stream)
        self.held.append(arrival)
        self._policy.admit(arrival, self.held)
        answers = self._answers(arrival)
        self._policy.credit(answers)
        self.lost.update(answer[0].key for answer in answers if self.ghosts.intersection(answer))
        return answers

    def _window(self, stream: int) -> list[Tuple]:
        return [each for each in self.held if each.stream == stream]

    def _is_full(self, stream: int) -> bool:
        return len(self._window(stream)) >= self._budgets[stream]

    def _expire(self, stream: int, moment: int) -> None:
        for each in self._window(stream):
            if each.end >= moment:
                return
            self._forget(each)
            self.expired[stream] += 1

    def _shed(self, stream: int) -> None:
        while (victim := self._policy.victim(stream, self.held, self.ghosts)) and self._sampled(victim.key):
            self.ghosts.add(victim)
        self._forget(victim or self._window(stream)[0])
        self.shed[stream] += 1

    def _forget(self, gone: Tuple) -> None:
        self.held.remove(gone)
        self.ghosts.discard(gone)

    def _answers(self, arrival: Tuple) -> list[Answer]:
        same = [each for each in self.held if each.key == arrival.key]
        windows = [
            [arrival] if stream == arrival.stream else [each for each in same if each.stream == stream]
            for stream in range(len(self._budgets))
        ]
        found = product(*windows)
        return [each for each in found if max(of.start for of in each) <= min(of.end for of in each)]
