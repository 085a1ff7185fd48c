"""Judge numbers by the paper's: near enough, or not; and ratios of a figure at the paper's sample rate."""

from skerry.experiments.figure import Figure, Outcome, Verdict

__all__ = ["BASELINE_HZ", "judge_near", "judge_true", "read_at"]

BASELINE_HZ = 180.0
"""The sample rate at which the paper gives its numbers."""

_NEAR = 0.15


def judge_near(claim: str, paper: float, ours: float, unit: str, remark: str = "") -> Verdict:
    """Whether ours is within 15 % of the paper's number.

    >>> judge_near("total power", 13.0, 12.75, "mW").ours
    '12.8 mW, 1.9 % less'
    """
    apart = ours / paper - 1.0
    near = f"{100 * abs(apart):.1f} % {'more' if apart > 0 else 'less'}"
    far = f"{ours / paper:.3g} times the paper's"
    text = f"{ours:.3g} {unit}, {near if abs(apart) < 0.5 else far}"
    return Verdict(claim, f"{paper:g} {unit}", text, *_judge(abs(apart) <= _NEAR, remark))


def judge_true(claim: str, paper: str, ours: str, holds: bool, remark: str = "") -> Verdict:
    """A claim that holds or does not; the remark is for the latter."""
    return Verdict(claim, paper, ours, *_judge(holds, remark))


def read_at(figure: Figure, technique: str, measure: str, across: float = BASELINE_HZ) -> float:
    """What was measured at a sample rate."""
    points, measures = figure.line(technique, measure)
    return measures[points.index(across)]


def _judge(holds: bool, remark: str) -> tuple[Outcome, str]:
    return (Outcome.HOLDS, "") if holds else (Outcome.FAILS, remark)
