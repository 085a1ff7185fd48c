"""Judge what was measured by the paper's claims: at every point of a figure, by the mean over all seeds."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from skerry.experiments.figure import Figure, Outcome, Verdict

__all__ = ["judge_above", "judge_below", "judge_near_best", "judge_rising", "judge_steady"]

_MEASURE = "answers"
_SMALL = 0.1
"""What counts as hardly any change."""


def judge_above(figure: Figure, better: str, others: Sequence[str], claim: str, remark: str = "") -> Verdict:
    """Whether one gives more than each of the others at every point; in direction only, at most points."""
    gains = {
        (value, other): 100 * (mine / theirs - 1) if theirs else float("inf")
        for other in others
        for value, mine, theirs in zip(*figure.line(better, _MEASURE), figure.line(other, _MEASURE)[1], strict=True)
    }
    return _judge_gains(gains, claim, f"{better} above {', '.join(others)}", ("more", "less"), remark)


def judge_below(figure: Figure, worse: str, others: Sequence[str], claim: str, remark: str = "") -> Verdict:
    """Whether one gives less than each of the others at every point."""
    falls = {
        (value, other): 100 * (1 - mine / theirs) if theirs else 0.0
        for other in others
        for value, mine, theirs in zip(*figure.line(worse, _MEASURE), figure.line(other, _MEASURE)[1], strict=True)
    }
    return _judge_gains(falls, claim, f"{worse} below {', '.join(others)}", ("less", "more"), remark)


def judge_near_best(
    figure: Figure, technique: str, policies: Sequence[str], fraction: float, remark: str = ""
) -> Verdict:
    """Whether a policy gives at least a fraction of what the best of the others gives, at every point."""
    lines = [figure.line(policy, _MEASURE)[1] for policy in policies if policy != technique]
    values, mine = figure.line(technique, _MEASURE)
    bests = [max(given) for given in zip(*lines, strict=True)]
    fractions = [given / best if best else 1.0 for given, best in zip(mine, bests, strict=True)]
    least, worst = min(fractions), min(figure.line(technique, "of_best")[1])
    fraction_text = f"{100 * least:.0f} % or more, least at {figure.across} {values[fractions.index(least)]:g}"
    judged = (Outcome.HOLDS, "") if least >= fraction else (Outcome.FAILS, remark)
    claim = f"{technique} gives at least {100 * fraction:.0f} % of what the best other policy gives, everywhere"
    return Verdict(claim, "not in the paper", f"{fraction_text}; {100 * worst:.0f} % with the worst seed", *judged)


def judge_rising(figure: Figure, technique: str, claim: str, remark: str = "") -> Verdict:
    """Whether a policy gives more at each point than at the one before."""
    values, given = figure.line(technique, _MEASURE)
    ours = ", ".join(f"{number:,.0f}" for number in given)
    rises = all(after > before for before, after in pairwise(given))
    outcome = Outcome.HOLDS if rises else Outcome.DIRECTION if given[-1] > given[0] else Outcome.FAILS
    paper = f"rises with {figure.across} from {values[0]:g} to {values[-1]:g}"
    return Verdict(claim, paper, ours, outcome, "" if rises else remark)


def judge_steady(figure: Figure, techniques: Sequence[str], claim: str, remark: str = "") -> Verdict:
    """Whether policies give about the same at all points."""
    spreads = {}
    for technique in techniques:
        given = figure.line(technique, _MEASURE)[1]
        spreads[technique] = max(given) / min(given) - 1 if min(given) > 0 else float("inf")
    ours = ", ".join(f"{technique} within {100 * spread:.0f} %" for technique, spread in spreads.items())
    judged = (Outcome.HOLDS, "") if max(spreads.values()) <= _SMALL else (Outcome.FAILS, remark)
    return Verdict(claim, "almost the same", ours, *judged)


def _judge_gains(
    gains: Mapping[tuple[float, str], float], claim: str, paper: str, words: tuple[str, str], remark: str
) -> Verdict:
    """A verdict on gains, in percent, by point and the technique compared with. Words are for a gain and for a loss."""
    (value, other), least = min(gains.items(), key=lambda each: each[1])
    held = sum(gain > 0 for gain in gains.values())
    worst = f"{_format_percent(abs(least))} {words[least < 0]} than {other}, at {value:g}"
    ours = f"in {held} of {len(gains)} comparisons; at the worst {worst}"
    outcome = Outcome.HOLDS if held == len(gains) else Outcome.DIRECTION if 2 * held > len(gains) else Outcome.FAILS
    return Verdict(claim, paper, ours, outcome, "" if outcome == Outcome.HOLDS else remark)


def _format_percent(change: float) -> str:
    """A change as people say it.

    >>> _format_percent(12.4), _format_percent(900.0)
    ('12 %', '9 times')
    """
    return f"{change:.0f} %" if change < 400 else f"{change / 100:.0f} times"
