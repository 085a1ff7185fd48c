"""Options must survive editors and formatters: sqlglot writes a statement as it read it."""

import pytest
import sqlglot

from skerry.errors import OptionError
from skerry.lang.sql.create_source import options_of
from skerry.lang.sql.view_options import view_owner
from skerry.model.options import Option, one_of, parse_options, text

SOURCE_OPTIONS = ["connector", "path", "kind", "sensors", "seed", "url", "topic", "sample_period", "idle_timeout"]
SOURCE_OPTIONS += ["max_ahead", "battery_lifetime", "spark_format", "spark.maxFilesPerTrigger", "spark.NAME"]
VIEW_OPTIONS = ["emit", "late_to", "loss_to", "on_overload", "shed_policy", "memory_rows", "spill_to", "place"]
VIEW_OPTIONS += ["sample_period", "battery_lifetime"]


def round_trip(statement):
    tree = sqlglot.parse_one(statement, read="risingwave")
    again = sqlglot.parse_one(tree.sql("risingwave"), read="risingwave")
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
        parse_options({"emt": "final"}, (Option("late_to", text()), Option("emit", one_of("final"))), view_owner("v"))


def test_unknown_value_tells_the_known_ones():
    with pytest.raises(OptionError, match="view 'v': option emit is 'early'; known are final, changes"):
        parse_options({"emit": "early"}, (Option("emit", one_of("final", "changes")),), view_owner("v"))


def test_option_without_listed_values_takes_any():
    parse_options({"late_to": "anything"}, (Option("late_to", text()),), view_owner("v"))
