"""The summary at the end of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor
from pathlib import Path

from skerry.pipeline.outcome import Outcome, Tally
from skerry.pipeline.skew import Load

__all__ = ["Pace", "count", "describe_progress", "summarize"]


_MOST_CHANGES = 20
"""So many views that came or went are named."""


@dataclass(frozen=True)
class Pace:
    """How a run went: on which runtime, for how long, and whether it was told to stop."""

    runtime: str
    seconds: float
    was_stopped: bool = False

    def describe(self, outcome: Outcome) -> str:
        """In a line. Readings that came in before the run was started again count for nothing here.

        >>> Pace("fjord", 2.0, was_stopped=True).describe(Outcome({"road": Tally(15)}, batches=1, earlier=5))
        'ran on fjord: 1 batch in 2.0 s, 5 readings per second; stopped before its input was used up'
        """
        rate = (outcome.read - outcome.earlier) / max(self.seconds, 1e-9)
        line = f"ran on {self.runtime}: {count(outcome.batches, 'batch', 'batches')} in {self.seconds:.1f} s"
        end = "; stopped before its input was used up" if self.was_stopped else ""
        return f"{line}, {rate:,.0f} readings per second{end}"


def describe_progress(outcome: Outcome, seconds: float) -> str:
    """How far a run has come, in a line. A share is rounded down: 100 % is the end.

    >>> describe_progress(Outcome({"road": Tally(1500)}, batches=2, share=0.999), 2.0)
    'batch 2: 99 % of the input, 1,500 readings, 750 per second'
    >>> describe_progress(Outcome({"road": Tally(1500)}, batches=2), 2.0)
    'batch 2: 1,500 readings, 750 per second'
    """
    share = "" if outcome.share is None else f"{floor(100 * outcome.share)} % of the input, "
    rate = (outcome.read - outcome.earlier) / max(seconds, 1e-9)
    return f"batch {outcome.batches}: {share}{outcome.read:,} readings, {rate:,.0f} per second"


def count(number: int, one: str, many: str) -> str:
    """A number of things, in the right form.

    >>> count(1, "row", "rows"), count(0, "row", "rows")
    ('1 row', '0 rows')
    """
    return f"{number} {one if number == 1 else many}"


def summarize(outcome: Outcome, pace: Pace, out: Path | None) -> str:
    """What came in, what became of it, what came out.

    >>> done = Outcome({"road": Tally(8, 1, 1)}, answers={"slow": 3}, batches=2)
    >>> print(summarize(done, Pace("fjord", 2.0), None))
    ran on fjord: 2 batches in 2.0 s, 5 readings per second
      road: read 10 = accepted 8 + late 1 + rejected 1
      slow: 3 rows
    """
    lines = [pace.describe(outcome)]
    for source, tally in outcome.tallies.items():
        lines.append(
            f"  {source}: read {tally.read} = accepted {tally.accepted} + late {tally.late} + rejected {tally.rejected}"
        )
        lines += [f"  {source}: {hint}" for hint in _hints(tally)]
    lines += [f"  {output}: {count(rows, 'row', 'rows')}" for output, rows in sorted(outcome.answers.items())]
    for view, buckets in sorted(outcome.loads.items()):
        skew = Load(buckets, outcome.hot_keys.get(view, {})).describe()
        lines += [f"  {view}: {skew}"] if skew else []
    for view, figures in sorted(outcome.figures.items()):
        lines += [f"  {view}: {line}" for line in _figures(figures)]
    if outcome.lag_us:
        lines.append(f"  readings waited {outcome.lag_us / 1e6:.1f} s at the most")
    lines += [f"  {view}: {_describe_wait(sources)}" for view, sources in sorted(outcome.held_back.items())]
    lines += [f"  {line}" for line in _describe_changes(outcome)]
    lines += [f"  {view}: stopped, {why}" for view, why in sorted(outcome.failures.items())]
    return "\n".join(lines + ([f"answers are in {out}"] if out else []))


def _describe_changes(outcome: Outcome) -> list[str]:
    """The views that came and went while the run went on.

    >>> _describe_changes(Outcome(came={"slow": 3}, went={"slow": 7}, refused={"fast": "there is no file"}))
    ['slow: came with batch 3, went with batch 7', 'fast: not answered, there is no file']
    """
    found: dict[str, list[tuple[int, str]]] = {}
    for word, changes in (("went", outcome.went), ("came", outcome.came)):
        for view, batch in changes.items():
            found.setdefault(view, []).append((batch, f"{word} with batch {batch}"))
    lines = [f"{view}: {', '.join(text for _, text in sorted(each))}" for view, each in sorted(found.items())]
    more = [f"and {len(lines) - _MOST_CHANGES} more views came or went"] if len(lines) > _MOST_CHANGES else []
    refused = [f"{view}: not answered, {why}" for view, why in sorted(outcome.refused.items())]
    return [*lines[:_MOST_CHANGES], *more, *refused]


def _hints(tally: Tally) -> list[str]:
    """What to change where most readings of a source did not come in.

    >>> _hints(Tally(accepted=10, late=20, rejected=1))
    ['most readings were late; raise the delay in WATERMARK FOR, or set max_ahead if a clock is wrong']
    >>> _hints(Tally(accepted=10, late=9))
    []
    """
    if 2 * tally.late > tally.read:
        return ["most readings were late; raise the delay in WATERMARK FOR, or set max_ahead if a clock is wrong"]
    if 2 * tally.rejected > tally.read:
        return ["most readings were rejected; the reasons are in its dead letters, compare them with CREATE SOURCE"]
    if 2 * (tally.late + tally.rejected) > tally.read:
        return ["most readings were late or rejected; look at its dead letters, and at the delay in WATERMARK FOR"]
    return []


def _describe_wait(sources: Sequence[str]) -> str:
    """Say for whom a view was waiting.

    >>> _describe_wait(["gate_b"])
    'held back by gate_b, which is behind the others; idle_timeout lets a quiet source hold nobody back'
    """
    names, verb = ", ".join(sources), "is" if len(sources) == 1 else "are"
    return f"held back by {names}, which {verb} behind the others; idle_timeout lets a quiet source hold nobody back"


def _figures(figures: Mapping[str, int]) -> list[str]:
    """What a view's operators have counted; of one with a budget, what became of all that came.

    >>> _figures({"received": 9, "shed": 2, "kept": 7})
    ['received 9 = kept 7 + expired 0 + shed 2']
    """
    if "received" in figures:
        received, kept, expired, shed = (figures.get(name, 0) for name in ("received", "kept", "expired", "shed"))
        found = [f"received {received:,} = kept {kept:,} + expired {expired:,} + shed {shed:,}"]
        if steps := figures.get("lagged_elsewhere", 0):
            found.append(f"{steps:,} steps were late for a reason other than this view, and no more was refused for it")
        return found
    return [f"{name.replace('_', ' ')} {count:,}" for name, count in figures.items()]
