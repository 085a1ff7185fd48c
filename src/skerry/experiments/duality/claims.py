"""Judge times per element by the paper's claims."""

from collections.abc import Sequence
from itertools import pairwise

from skerry.experiments.figure import Figure, Outcome, Verdict

__all__ = [
    "MEASURE",
    "find_ratios",
    "judge_falling",
    "judge_faster",
    "judge_growing",
    "judge_ranking",
    "judge_ratio",
    "judge_rising",
    "judge_steady",
]

MEASURE = "microseconds"
_SMALL = 0.25
"""What counts as hardly any change of a time."""


def find_ratios(figure: Figure, pair: tuple[str, str]) -> list[float]:
    """How many times faster the first of a pair is than the second, at each point."""
    fast, slow = (figure.line(technique, MEASURE)[1] for technique in pair)
    return [theirs / mine if mine else float("inf") for mine, theirs in zip(fast, slow, strict=True)]


def judge_faster(figure: Figure, pair: tuple[str, str], paper: float, claim: str, remark: str = "") -> Verdict:
    """Whether the first of a pair is as many times faster as the paper says, at the last point."""
    return judge_ratio(find_ratios(figure, pair)[-1], paper, claim, remark)


def judge_ratio(ours: float, paper: float, claim: str, remark: str = "") -> Verdict:
    """Whether so many times is as many as the paper's. A remark is given unless it is, and within twice that."""
    outcome = Outcome.HOLDS if ours >= paper else Outcome.DIRECTION if ours > 1 else Outcome.FAILS
    return Verdict(
        claim, f"{paper:g} times", f"{ours:.3g} times", outcome, "" if paper <= ours <= 2 * paper else remark
    )


def judge_ranking(figure: Figure, techniques: Sequence[str], claim: str, remark: str = "") -> Verdict:
    """Whether each technique takes less time than the next, at every point."""
    lines = [figure.line(technique, MEASURE)[1] for technique in techniques]
    held = [all(less < more for less, more in pairwise(times)) for times in zip(*lines, strict=True)]
    times = ", ".join(f"{technique} {line[-1]:.3g} µs" for technique, line in zip(techniques, lines, strict=True))
    outcome = Outcome.HOLDS if all(held) else Outcome.DIRECTION if 2 * sum(held) > len(held) else Outcome.FAILS
    ours = f"at {sum(held)} of {len(held)} places; at the last {times}"
    return Verdict(claim, " < ".join(techniques), ours, outcome, "" if all(held) else remark)


def judge_growing(figure: Figure, pair: tuple[str, str], claim: str, remark: str = "") -> Verdict:
    """Whether the first of a pair is ahead by more at each point than at the one before; or at the last, if not."""
    found = find_ratios(figure, pair)
    return _judge_course(found, claim, "grows", ", ".join(f"{ratio:.3g}" for ratio in found) + " times", remark)


def judge_rising(figure: Figure, technique: str, measure: str, claim: str, remark: str = "") -> Verdict:
    """Whether a measure is higher at each point than at the one before."""
    found = figure.line(technique, measure)[1]
    return _judge_course(found, claim, "rises", ", ".join(f"{number:,.4g}" for number in found), remark)


def judge_falling(figure: Figure, technique: str, claim: str, remark: str = "") -> Verdict:
    """Whether a time is lower at each point than at the one before."""
    found = figure.line(technique, MEASURE)[1]
    times_text = ", ".join(f"{number:.3g}" for number in found) + " µs"
    return _judge_course([-number for number in found], claim, "falls", times_text, remark)


def _judge_course(rising: Sequence[float], claim: str, paper: str, ours: str, remark: str) -> Verdict:
    """Two points of one height are no fall: what is chosen from a list may stay."""
    holds = rising[-1] > rising[0] and all(before <= after for before, after in pairwise(rising))
    outcome = Outcome.HOLDS if holds else Outcome.DIRECTION if rising[-1] > rising[0] else Outcome.FAILS
    return Verdict(claim, paper, ours, outcome, "" if holds else remark)


def judge_steady(figure: Figure, techniques: Sequence[str], claim: str, remark: str = "") -> Verdict:
    """Whether techniques take about the same time at all points."""
    lines = {technique: figure.line(technique, MEASURE)[1] for technique in techniques}
    spreads = {name: max(times) / min(times) - 1 if min(times) else float("inf") for name, times in lines.items()}
    ours = ", ".join(f"{technique} within {100 * spread:.0f} %" for technique, spread in spreads.items())
    judged = (Outcome.HOLDS, "") if max(spreads.values()) <= _SMALL else (Outcome.FAILS, remark)
    return Verdict(claim, "insensitive", ours, *judged)
