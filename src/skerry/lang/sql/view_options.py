"""What may stand behind WITH in a view."""

from collections.abc import Mapping

from skerry.errors import OptionError
from skerry.lang.sql.fallback import FALLBACK_OPTIONS
from skerry.lang.sql.samples import SAMPLE_OPTIONS
from skerry.model.backfill_span import BACKFILL
from skerry.model.network_options import PLACES
from skerry.model.options import Option, Owner, Parser, one_of, parse_options, text, whole_number
from skerry.model.sampling import SAMPLING_OPTIONS
from skerry.model.spark_format import SPARK_OPTIONS, SparkFormat, is_for_spark
from skerry.operators.joins.make_technique import TECHNIQUES
from skerry.plan.limits import LIMITS, option_of
from skerry.shedding.bounded_join import POLICIES

__all__ = ["VIEW_OPTIONS", "check_view_options", "read_spark_sink", "view_owner"]

_PRIORITY = Parser(whole_number(1, 100).read, "a whole number from 1 to 100", ("whole numbers from 1 to 100",))

VIEW_OPTIONS = (
    BACKFILL,
    Option(
        "emit",
        one_of("final", "early", "changes"),
        "final",
        "When answers are given: once, when they are settled; at every change, behind _op; of GATHER, early.",
    ),
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
    Option("priority", _PRIORITY, "1", "In process: how many turns it has where another has one."),
    Option("rules", text(), help="A file with a rule program."),
    *(Option(option.name, text(), help=option.help) for option in SAMPLING_OPTIONS),
    *SAMPLE_OPTIONS,
    *FALLBACK_OPTIONS,
    Option("sink", one_of("spark"), help="Where the answers go, if not where the run writes all others."),
    *(Option(option.name, text(), help=option.help) for option in SPARK_OPTIONS),
    Option("shed_policy", one_of(*POLICIES), "adaptive", "Which readings are shed."),
    Option("spill_to", text(), help="A folder for rows beyond memory_rows."),
)
"""What may stand behind WITH in a view. Numbers and spans are read where the view is bound (``lang.sql.overload``)."""


def check_view_options(name: str, options: Mapping[str, str]) -> None:
    """Refuse what a view cannot be told."""
    read_spark_sink(name, options)
    parse_options(
        {option: options[option] for option in options if not is_for_spark(option)}, VIEW_OPTIONS, view_owner(name)
    )


def read_spark_sink(name: str, options: Mapping[str, str]) -> SparkFormat | None:
    """How Spark writes the view, if it does."""
    own = {option.name for option in SPARK_OPTIONS}
    given = {option: value for option, value in options.items() if option in own or is_for_spark(option)}
    if options.get("sink") == "spark":
        return SparkFormat.parse(given, Owner(f"view {name!r}", missing="{owner} needs {option}, such as {example}"))
    if given:
        raise OptionError(f"view {name!r}: option {min(given)} needs sink='spark'")
    return None


def view_owner(name: str) -> Owner:
    """The owner of a view's options, for errors."""
    return Owner(
        f"view {name!r}",
        unknown="{owner} has no option {option!r}; known are {known}",
        wrong="{owner}: option {option} is {given!r}; known are {known}",
    )
