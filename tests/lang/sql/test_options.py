"""Options must survive editors and formatters: sqlglot writes a statement as it read it."""

import pytest
import sqlglot

from skerry.errors import OptionError
from skerry.lang.sql.declare import check_options, options_of
from skerry.lang.sql.reading import DIALECT

SOURCE_OPTIONS = ["connector", "path", "kind", "sensors", "seed", "url", "topic", "sample_period", "idle_timeout"]
SOURCE_OPTIONS += ["max_ahead", "spark_format", "spark.maxFilesPerTrigger", "spark.NAME"]
VIEW_OPTIONS = ["emit", "late_to", "loss_to", "on_overload", "shed_policy", "memory_rows", "spill_to", "place"]
VIEW_OPTIONS += ["sample_period"]


def round_trip(statement):
    tree = sqlglot.parse_one(statement, read=DIALECT)
    again = sqlglot.parse_one(tree.sql(DIALECT), read=DIALECT)
    assert options_of(again) == options_of(tree)
    return options_of(tree)


@pytest.mark.parametrize("name", SOURCE_OPTIONS)
@pytest.mark.parametrize("quote", ["", "'"])
def test_option_of_a_source_survives_the_round_trip(name, quote):
    statement = f"CREATE SOURCE s (a INT) WITH ({quote}{name}{quote} = 'Some Value')"
    assert round_trip(statement) == {name: "Some Value"}


@pytest.mark.parametrize("name", VIEW_OPTIONS)
def test_option_of_a_view_survives_the_round_trip(name):
    assert round_trip(f"CREATE MATERIALIZED VIEW v WITH ({name} = 'Some Value') AS SELECT 1") == {name: "Some Value"}


def test_all_options_survive_together():
    options = ", ".join(f"{name} = '{place}'" for place, name in enumerate(SOURCE_OPTIONS))
    assert list(round_trip(f"CREATE SOURCE s (a INT) WITH ({options})")) == SOURCE_OPTIONS


def test_unknown_option_tells_the_known_ones():
    with pytest.raises(OptionError, match="view 'v' has no option 'emt'; known are emit, late_to"):
        check_options({"emt": "final"}, {"late_to": (), "emit": ("final",)}, "view 'v'")


def test_unknown_value_tells_the_known_ones():
    with pytest.raises(OptionError, match="view 'v': option emit is 'early'; known are final, changes"):
        check_options({"emit": "early"}, {"emit": ("final", "changes")}, "view 'v'")


def test_option_without_listed_values_takes_any():
    check_options({"late_to": "anything"}, {"late_to": ()}, "view 'v'")
