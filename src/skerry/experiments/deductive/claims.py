"""Judge what the paper says in words: about so many, twice as many, proportional."""

from skerry.experiments.figure import Outcome, Verdict

__all__ = ["judge_factor", "judge_true", "list_numbers"]

_NEAR = 0.25


def judge_true(claim: str, paper: str, ours: str, holds: bool, remark: str = "") -> Verdict:
    """A claim that holds or does not; the remark is for the latter."""
    return Verdict(claim, paper, ours, Outcome.HOLDS if holds else Outcome.FAILS, "" if holds else remark)


def judge_factor(claim: str, factor: float, ours: float, remark: str = "") -> Verdict:
    """Whether ours is the paper's factor to within a quarter; if it only points the same way, that is said.

    >>> judge_factor("logicJ over procedural", 2.0, 1.3).outcome
    <Outcome.DIRECTION: 'in direction only'>
    """
    near = abs(ours / factor - 1.0) <= _NEAR
    outcome = Outcome.HOLDS if near else Outcome.DIRECTION if 1.05 < ours < factor else Outcome.FAILS
    return Verdict(claim, f"{factor:g} times", f"{ours:.2f} times", outcome, "" if near else remark)


def list_numbers(numbers: dict[str, float], form: str = ".2f") -> str:
    """Numbers by name, in a line.

    >>> list_numbers({"logicH": 1.7349, "logicJ": 1.0})
    'logicH 1.73, logicJ 1.00'
    """
    return ", ".join(f"{name} {number:{form}}" for name, number in numbers.items())
