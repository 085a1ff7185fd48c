"""The generic component: what runs on every mote, whatever the program. It has its board, its data, and messages."""

from collections.abc import Callable, Mapping

from skerry.deduce.evaluate import Calls
from skerry.deduce.values import Row, row_key
from skerry.network.message import HEADER_BYTES, Kind, Message, count_bytes
from skerry.network.mote import Board
from skerry.network.rules.agenda import Agenda
from skerry.network.rules.blocked_claims import BlockedClaims
from skerry.network.rules.claims import Claim, Stop, make_claim, read_claim
from skerry.network.rules.gathering import Gathering
from skerry.network.rules.groups import Group
from skerry.network.rules.holdings import GIVEN, Holding, Holdings
from skerry.network.rules.join import Found, Join
from skerry.network.rules.memory import Memory
from skerry.network.rules.node_program import EVERYWHERE, DerivationKey, NodeProgram, NodeRule, TupleId
from skerry.network.rules.plans import Plan
from skerry.network.rules.routes import Routes
from skerry.network.rules.store import Store, Stored
from skerry.network.rules.technique import Equipment, Technique
from skerry.network.rules.watches import Watches

__all__ = ["Component"]

_HEAR, _SETTLE = 0, 1
"""Within one tuple's turn: claims first, then whether it holds."""


class Component:
    """One mote's program at work.

    A tuple that lives here holds while a derivation of it is in force. Only that it comes to hold, or holds no more, is
    passed on: to the technique, which joins it, and to the claims that wait for it under NOT.
    """

    def __init__(
        self,
        board: Board,
        program: NodeProgram,
        plans: Mapping[str | None, tuple[Plan, ...]],
        routes: Routes,
        calls: Calls,
        agenda: Agenda,
        technique: Callable[[Equipment], Technique],
    ) -> None:
        self._board, self._program, self._plans, self._routes, self._agenda = board, program, plans, routes, agenda
        self.store, self.holdings = Store(), Holdings()
        self._memory = Memory(board, program.timing.keep_us)
        self._watches, self._blocked = Watches(), BlockedClaims(self._memory)
        self._gathering = Gathering(board, program, routes, self._memory, self._expect_group)
        self._rules = {rule.number: rule for rule in program.rules}
        self.store.on_drop, self.store.on_tombstone = self._release, self._note_tombstone
        self._versions: dict[DerivationKey, int] = {}
        self._join = Join(board.mote, self.store, calls, program.calendar.unit)
        self._sequence = self._from_start = 0
        self._technique = technique(
            Equipment(board, program, plans, routes, self.store, self._join, self, self._memory)
        )

    @property
    def most_tuples(self) -> int:
        """The most tuples that it held at a time, without what it knew from the start."""
        return self.store.most - self._from_start

    def start(self) -> None:
        """Begin, in one go."""
        self._agenda.hasten(self._start)

    def insert(self, predicate: str, row: Row) -> None:
        """A base fact has come; one that is there already, or is too old, changes nothing."""
        self._memory.tidy()
        schema = self._program.schemas[predicate]
        expiry_us = None
        if schema.span is not None and schema.time is not None:
            time = row[schema.time]
            assert isinstance(time, int)
            expiry_us = self._program.calendar.find_expiry(time + schema.span)
        if expiry_us is None or expiry_us > self._board.clock:
            self._agenda.add((*schema.find_priority(row), _HEAR), self._give, predicate, row, expiry_us)

    def delete(self, predicate: str, row: Row) -> None:
        """A base fact has gone."""
        self._memory.tidy()
        priority = self._program.schemas[predicate].find_priority(row)
        self._agenda.add((*priority, _HEAR), self._take, predicate, row)

    def receive(self, sender: int, message: Message) -> None:
        """Somebody spoke: a claim for this mote or on its way, or what the technique has to say."""
        self._memory.tidy()
        topic, *content = message.body
        if topic == "gather":
            self._gathering.receive(sender, tuple(content))
        elif topic != "claim":
            self._agenda.hasten(self._technique.receive, topic, tuple(content))
        elif content[0] == self._board.mote:
            self._expect(read_claim(content[1]))
        else:
            self._forward(content[0], message)

    def make(self, rule: NodeRule, found: Found) -> Claim | None:
        """What follows from joined tuples, if anything does."""
        return make_claim(rule, found, self._program, self._join.solver.evaluator)

    def send(self, claim: Claim, comes_back: bool = False) -> None:
        """Have a claim that was joined here heard where it stops, unless a tuple that it denies is known here.

        Then its withdrawal must come here too, or be seen from the tuples that it is made of.
        """
        self._note_join(claim)
        if len(claim.stops) == 1 or claim.stops[0].home == self._board.mote:
            self._pass_on(claim)
        elif not claim.in_force or comes_back or self._knows_all(claim):
            if claim.in_force and claim.expiry_us is not None:
                self._board.wake(max(claim.expiry_us - self._board.clock, 0), self._blocked.end, claim.key)
            if self._blocked.take(claim, self._find_blocker(claim)):
                self._pass_on(claim)
        elif self._blocked.note_sent(claim):
            self._pass_on(claim)

    def _knows_all(self, claim: Claim) -> bool:
        """Whether all is here that a claim is made of."""
        return all(each in self.store or each[0] == EVERYWHERE for each in claim.key[1])

    def _start(self) -> None:
        """Begin with what needs no message: tuples of the program's text, links, and rules without joins."""
        for number, schema in enumerate(self._program.schemas.values()):
            for index, row in enumerate(schema.known or ()):
                identity = (EVERYWHERE, -1 - number, index)  # older than all facts, as links are
                self.store.add(Stored(identity, schema.name, row, None, is_own=True))
        for number, schema in enumerate(self._program.schemas.values()):
            if schema.link is not None:
                self._add_links(schema.name, schema.link, number)
        self._from_start = len(self.store)
        for plan in self._plans[None]:
            for found in self._join.find(plan, None):
                claim = self.make(plan.rule, found)
                if claim is not None and claim.head.home == self._board.mote:
                    self.send(claim)

    def _note_join(self, claim: Claim) -> None:
        """How long it took from the youngest tuple's storage to here; withdrawals are as fast."""
        youngest_us = max((time for _, time, _ in claim.key[1]), default=-1)
        if claim.in_force and youngest_us >= 0:
            timing = self._program.timing
            begun_us = youngest_us + timing.storage_us + timing.skew_us
            self.store.note_join(self._board.clock - begun_us, timing.join_us + timing.skew_us)

    def _pass_on(self, claim: Claim) -> None:
        """Have a claim heard where it stops next: here, or over the radio. What aggregates over a tree begins here."""
        target = claim.stops[0].home
        is_gathered = len(claim.stops) == 1 and claim.key[0] in self._program.gathered
        if target == self._board.mote or is_gathered:
            self._expect(claim)
        else:
            body = ("claim", target, claim.to_plain())
            self._forward(target, Message(Kind.RESULT, body, HEADER_BYTES + count_bytes(body)))

    def _find_blocker(self, claim: Claim) -> TupleId | None:
        """A tuple known here that a claim denies."""
        found = (self._find_denied(claim, stop, own=False) for stop in claim.stops[:-1])
        return next((each.id for each in found if each is not None), None)

    def _find_denied(self, claim: Claim, stop: Stop, own: bool) -> Stored | None:
        denial = None if stop.denial is None else self._rules[claim.key[0]].denials[stop.denial]
        return self._join.find_denied(stop.predicate, stop.row, denial, own)

    def _release(self, identity: TupleId) -> None:
        """A tuple is gone: send the claims that it blocked, if nothing else does."""
        for claim in self._blocked.release(identity):
            blocker = self._find_blocker(claim)
            self._blocked.block(claim, blocker)
            if blocker is None and (claim.expiry_us is None or claim.expiry_us > self._board.clock):
                self._pass_on(claim)

    def _forward(self, target: int, message: Message) -> None:
        hop = self._routes.next_hop(target)
        if hop is not None:
            self._board.send(hop, message)

    def _expect(self, claim: Claim) -> None:
        head = claim.head
        priority = self._program.schemas[head.predicate].find_priority(head.row)
        self._agenda.add((*priority, _HEAR), self._hear, claim)

    def _hear(self, claim: Claim) -> None:
        """A claim has come to one of its stops."""
        if claim.expiry_us is not None and claim.in_force:
            if claim.expiry_us <= self._board.clock:
                return
            self._board.wake(claim.expiry_us - self._board.clock, self._end, claim)
        if len(claim.stops) > 1:
            watch = self._watches.hear(claim)
            if not claim.in_force:
                self._memory.forget_later(self._watches.forget, claim)
            passed = watch and watch.update(self._find_denied(claim, claim.stops[0], own=True) is not None)
            if passed:
                self._pass_on(passed)
        elif self._versions.get(claim.key, 0) < claim.version:
            self._versions[claim.key] = claim.version
            if not claim.in_force:
                self._memory.forget_later(self._forget_version, claim.key, claim.version)
            self._apply(claim.key, claim.head, claim.in_force)

    def _end(self, claim: Claim) -> None:
        """A claim has expired. At its other stops it does so too, so nothing is passed on."""
        if len(claim.stops) > 1:
            self._watches.end(claim)
            self._memory.forget_later(self._watches.forget, claim)
        else:
            self._memory.forget_later(self._forget_version, claim.key, None)
            self._apply(claim.key, claim.head, in_force=False)

    def _forget_version(self, key: DerivationKey, version: int | None) -> None:
        if version is None or self._versions.get(key) == version:
            self._versions.pop(key, None)

    def _note_tombstone(self, identity: TupleId) -> None:
        self._memory.forget_later(self.store.forget, identity)

    def _apply(self, key: DerivationKey, head: Stop, in_force: bool) -> None:
        """Add a derivation to what it derives, or take it away."""
        rule = self._rules[key[0]]
        if rule.aggregates:
            self._gathering.contribute(rule, key, head, in_force)
        else:
            self._change(self.holdings.get(head.predicate, head.row), key, in_force)

    def _expect_group(self, group: Group) -> None:
        priority = self._program.schemas[group.rule.head.predicate].find_priority(group.outline)
        self._agenda.add((*priority, _SETTLE), self._settle_group, group)

    def _settle_group(self, group: Group) -> None:
        """Derive a group's row anew, if its contributions make another."""
        group.is_due = False
        name = group.rule.head.predicate
        row = group.aggregate(self._program.schemas[name])
        if row is not None and group.row is not None and row_key(row) == row_key(group.row):
            return
        for changed, in_force in ((group.row, False), (row, True)):
            if changed is not None:
                self._change(self.holdings.get(name, changed), (group.rule.number, ()), in_force)
        group.row = row
        self._gathering.settled(group)

    def _give(self, predicate: str, row: Row, expiry_us: int | None) -> None:
        holding = self.holdings.get(predicate, row)
        if GIVEN not in holding.derivations and expiry_us is not None:
            holding.expiry_us = expiry_us
            self._board.wake(max(expiry_us - self._board.clock, 0), self._take, predicate, row)
        self._change(holding, GIVEN, in_force=True)

    def _take(self, predicate: str, row: Row) -> None:
        self._change(self.holdings.get(predicate, row), GIVEN, in_force=False)

    def _change(self, holding: Holding, key: DerivationKey, in_force: bool) -> None:
        if in_force:
            holding.derivations.add(key)
        else:
            holding.derivations.discard(key)
        if not holding.is_due:
            holding.is_due = True
            priority = self._program.schemas[holding.predicate].find_priority(holding.row)
            self._agenda.add((*priority, _SETTLE), self._settle, holding)

    def _settle(self, holding: Holding) -> None:
        """See whether a tuple holds; if that is new, pass it on."""
        holding.is_due = False
        holds = bool(holding.derivations)
        if holds and holding.id is None:
            self._sequence += 1
            self._hold(holding, (self._board.mote, self._board.clock, self._sequence))
        elif not holds and holding.id is not None:
            self._let_go(holding, holding.id)
        elif not holds:
            self.holdings.forget(holding)

    def _hold(self, holding: Holding, identity: TupleId) -> None:
        holding.id = identity
        stored = Stored(identity, holding.predicate, holding.row, holding.expiry_us, is_own=True)
        self.store.add(stored)
        self._technique.insert(stored)
        self._update_watches(holding)

    def _let_go(self, holding: Holding, identity: TupleId) -> None:
        holding.id = None
        self.holdings.forget(holding)
        stored = self.store.drop(identity)
        assert stored is not None
        has_expired = holding.expiry_us is not None and holding.expiry_us <= self._board.clock
        self._technique.drop(stored, has_expired)
        self._update_watches(holding)

    def _update_watches(self, holding: Holding) -> None:
        for watch in self._watches.of(holding.predicate, holding.row):
            stop = watch.claim.stops[0]
            passed = watch.update(self._find_denied(watch.claim, stop, own=True) is not None)
            if passed is not None:
                self._pass_on(passed)

    def _add_links(self, name: str, reach: int, number: int) -> None:
        """The links of this mote in both directions; those from here live here."""
        mote = self._board.mote
        near = [other for other, hops in enumerate(self._routes.hops) if 0 < hops <= reach]
        for other in near:
            holding = self.holdings.get(name, (mote, other))
            holding.derivations.add(GIVEN)
            self._hold(holding, (mote, -1 - number, other))
        for other in near:
            stored = Stored((other, -1 - number, mote), name, (other, mote), None, is_own=False)
            self.store.add(stored)
            self._technique.insert(stored)
