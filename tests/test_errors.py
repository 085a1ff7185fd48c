import pickle

import pytest

from skerry import errors
from skerry.errors import Location, SkerryError

PLACE = Location(3, 7)
ONE_OF_EACH = [
    errors.SkerryError("something", 1),
    errors.InputError("a window must be above zero, got", 0),
    errors.SqlError("cannot read 'x' here", PLACE),
    errors.SqlError("a statement is nested too deeply"),
    errors.UnknownStream("trafic", {"traffic", "incidents"}, PLACE),
    errors.UnknownColumn("spede", "traffic", ["ts", "speed"], PLACE),
    errors.UnknownFunction("sqr", ["sqrt"], PLACE),
    errors.RuleError("E101", "head variable 'x' is bound by nothing", "bind it", 2, PLACE),
    errors.OptionError("view 'v' has no option 'x'"),
    errors.SourceError("no file matches", "a*.csv"),
    errors.CatalogError("'v' exists already"),
    errors.CheckpointError("kept/run.json", "is missing"),
    errors.SetupError("Java is missing"),
    errors.RunError("the answers differ"),
    errors.WaitTimeout("'jams' has 3 of the 10 rows that were waited for, after", 5.0, "s"),
    errors.LimitError("a step gives 9 combinations of tuples or more, the limit is", 8),
    errors.RuleLimit("'p' has more than 10 tuples", "declare a limit", 2),
    errors.MemoryLimit("tuples take more than 1 GiB", "declare a limit", 2),
    errors.KernelError("lengths differ:", 1, 2),
]


@pytest.mark.parametrize("error", ONE_OF_EACH, ids=lambda error: type(error).__name__)
def test_error_survives_pickling(error):
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.args) == (type(error), str(error), error.args)


def test_every_error_is_tried():
    tried = {type(error).__name__ for error in ONE_OF_EACH}
    assert tried == {name for name in errors.__all__ if name != "Location"}


@pytest.mark.parametrize("name", [name for name in errors.__all__ if name != "Location"])
def test_every_error_is_a_skerry_error_and_drawn_in_the_tree(name):
    assert issubclass(getattr(errors, name), SkerryError)
    assert name in (errors.__doc__ or "")


@pytest.mark.parametrize("name", ["SqlError", "OptionError", "SourceError", "CatalogError"])
def test_errors_of_the_user_are_input_errors(name):
    assert issubclass(getattr(errors, name), errors.InputError)


def test_unknown_stream_tells_what_is_known_in_order():
    error = errors.UnknownStream("trafic", ["traffic", "incidents"], PLACE)
    assert str(error) == "line 3, column 7: unknown stream 'trafic'; the catalogue has incidents, traffic"


def test_unknown_stream_of_an_empty_catalogue_says_so():
    assert str(errors.UnknownStream("t", [])) == "unknown stream 't'; the catalogue has none"


def test_unknown_column_tells_the_columns_in_their_order():
    error = errors.UnknownColumn("spede", "traffic", ["ts", "speed"])
    assert str(error) == "unknown column 'spede'; traffic has ts, speed"


def test_unknown_function_tells_those_that_look_like_it():
    assert str(errors.UnknownFunction("sqr", ["sqrt"])) == "unknown function 'sqr'; did you mean sqrt?"


def test_unknown_function_that_looks_like_none_may_be_the_programs_own():
    assert "unknown function 'dew'; one of your own is made with create_function" in str(
        errors.UnknownFunction("dew", [])
    )


def test_sql_error_without_a_place_has_its_message_alone():
    assert str(errors.SqlError("nested too deeply")) == "nested too deeply"
