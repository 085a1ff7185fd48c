"""What may stand behind WITH in a view."""

from skerry.lang.sql.fallback import FALLBACK_OPTIONS
from skerry.lang.sql.samples import SAMPLE_OPTIONS
from skerry.model.network_options import PLACES
from skerry.model.options import Option, Owner, one_of, text
from skerry.model.sampling import SAMPLING_OPTIONS
from skerry.operators.joins.make_technique import TECHNIQUES
from skerry.plan.limits import LIMITS, option_of
from skerry.shedding.bounded_join import POLICIES

__all__ = ["VIEW_OPTIONS", "view_owner"]

VIEW_OPTIONS = (
    Option("emit", one_of("final", "early"), "final", "GATHER: whether groups are given before they are complete."),
    Option("join", one_of(*TECHNIQUES), "snjoin", "The technique of a join."),
    Option("late_to", text(), help="An output for readings that come too late."),
    Option("loss_to", text(), help="An output for reports of what was shed."),
    Option("max_combinations", text(), help="How many combinations a reading may make."),
    Option("max_lag", text(), help="How long readings may wait before some are shed."),
    *(Option(option_of(name), text(), help=f"Rules: a limit, see limit {name} in docs/rules.md.") for name in LIMITS),
    Option("memory_rows", text(), help="How many rows a join may keep in memory."),
    Option("on_overload", one_of("wait", "shed"), "wait", "What becomes of readings that are too many."),
    Option("output", text(), help="Rules: the predicate that is the answer."),
    Option("place", one_of(*PLACES), "auto", "In a network: where the view's rows meet."),
    Option("rules", text(), help="A file with a rule program."),
    *(Option(option.name, text(), help=option.help) for option in SAMPLING_OPTIONS),
    *SAMPLE_OPTIONS,
    *FALLBACK_OPTIONS,
    Option("shed_policy", one_of(*POLICIES), "adaptive", "Which readings are shed."),
    Option("spill_to", text(), help="A folder for rows beyond memory_rows."),
)
"""What may stand behind WITH in a view. Numbers and spans are read where the view is bound (``lang.sql.overload``)."""


def view_owner(name: str) -> Owner:
    """The owner of a view's options, for errors."""
    return Owner(
        f"view {name!r}",
        unknown="{owner} has no option {option!r}; known are {known}",
        wrong="{owner}: option {option} is {given!r}; known are {known}",
    )
