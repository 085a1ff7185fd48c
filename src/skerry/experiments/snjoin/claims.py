"""Judge what was measured, at the largest size, by the paper's claims.

A remark, which says why ours may differ, is given unless the claim holds and ours is within twice the paper's.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from skerry.experiments.figure import Figure, Outcome, Verdict

__all__ = ["is_ranked", "judge_fall", "judge_gain", "judge_order", "judge_saving", "judge_steadiness"]

Figures = tuple[Figure, Figure]
"""Before a change, and after it."""
Ranking = Sequence[Sequence[str]]
"""Groups of techniques, the best first."""

_NOISE = 0.05


def judge_order(figure: Figure, measure: str, ranking: Ranking, claim: str, remark: str = "") -> Verdict:
    """Whether every technique of a group has clearly more than all of the groups behind it."""
    rates = {technique: figure.at_largest(technique, measure) for group in ranking for technique in group}
    ours = ", ".join(f"{technique} {rate:.3g}" for technique, rate in rates.items())
    paper = " > ".join("/".join(group) for group in ranking)
    judged = (Outcome.HOLDS, "") if is_ranked(rates, ranking) else (Outcome.FAILS, remark)
    return Verdict(claim, paper, ours, *judged)


def is_ranked(rates: Mapping[str, float], ranking: Ranking) -> bool:
    """Whether groups of techniques stand in order, each more than 5 % above the next: so much is noise.

    >>> is_ranked({"a": 2.0, "b": 1.0}, [["a"], ["b"]]), is_ranked({"a": 1.02, "b": 1.0}, [["a"], ["b"]])
    (True, False)
    """
    groups = [[rates[technique] for technique in group] for group in ranking]
    return all(min(better) > (1 + _NOISE) * max(worse) for better, worse in pairwise(groups))


def judge_gain(
    figure: Figure, pair: tuple[str, str], measure: str, paper: float, claim: str, remark: str = ""
) -> Verdict:
    """By how many percent the first of a pair exceeds the second, where the paper says ``paper``."""
    better, worse = (figure.at_largest(technique, measure) for technique in pair)
    ours = 100 * (better / worse - 1) if worse else float("inf") if better else 0.0
    return _judge_percent(claim, ours, paper, f"+{paper:.0f} %", _format_gain(ours), remark)


def judge_saving(
    figure: Figure, pair: tuple[str, str], measure: str, paper: float, claim: str, remark: str = ""
) -> Verdict:
    """By how many percent the first of a pair stays below the second."""
    less, more = (figure.at_largest(technique, measure) for technique in pair)
    ours = 100 * (1 - less / more) if more else 0.0
    return _judge_percent(claim, ours, paper, f"-{paper:.0f} %", f"{-ours:+.0f} %", remark)


def judge_fall(figures: Figures, technique: str, measure: str, paper: float, claim: str, remark: str = "") -> Verdict:
    """By how many percent a technique gives less after a change."""
    ours = _find_fall(figures, technique, measure)
    return _judge_percent(claim, ours, paper, f"-{paper:.0f} %", f"{-ours:+.0f} %", remark)


def judge_steadiness(
    figures: Figures, technique: str, measure: str, paper: float, claim: str, remark: str = ""
) -> Verdict:
    """The same, where the claim is that it is no more than that."""
    ours = _find_fall(figures, technique, measure)
    judged = (Outcome.HOLDS, "") if ours <= paper else (Outcome.FAILS, remark)
    return Verdict(claim, f"-{paper:.0f} % at most", f"{-ours:+.0f} %", *judged)


def _find_fall(figures: Figures, technique: str, measure: str) -> float:
    before, after = (figure.at_largest(technique, measure) for figure in figures)
    return 100 * (1 - after / before) if before else 0.0


def _judge_percent(claim: str, ours: float, paper: float, paper_text: str, ours_text: str, remark: str) -> Verdict:
    outcome = Outcome.HOLDS if ours >= paper else Outcome.DIRECTION if ours > 0 else Outcome.FAILS
    return Verdict(claim, paper_text, ours_text, outcome, "" if paper <= ours <= 2 * paper else remark)


def _format_gain(percent: float) -> str:
    """A gain as people say it.

    >>> _format_gain(45.2), _format_gain(900), _format_gain(float("inf"))
    ('+45 %', '10 times', 'all of it: the other gives nothing')
    """
    if percent == float("inf"):
        return "all of it: the other gives nothing"
    return f"{percent:+.0f} %" if percent < 400 else f"{percent / 100 + 1:.0f} times"
