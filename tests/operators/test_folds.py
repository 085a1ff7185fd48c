import pyarrow as pa
import pytest

from skerry.operators.partial_aggregate import accumulators_of
from skerry.plan.fold import Fold

FUNCTIONS = ("avg", "count", "count_distinct", "max", "min", "stddev_pop", "stddev_samp", "sum", "var_pop", "var_samp")


def type_of(function, argument_type):
    return Fold(function, "x", argument_type, "answer").type


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        (pa.int16(), pa.int64()),
        (pa.int32(), pa.int64()),
        (pa.int64(), pa.decimal128(38, 0)),
        (pa.float32(), pa.float64()),
        (pa.float64(), pa.float64()),
    ],
)
def test_sum_widens_as_in_postgresql(argument, expected):
    assert type_of("sum", argument) == expected


@pytest.mark.parametrize("function", ["avg", "stddev_pop", "stddev_samp"])
def test_averages_and_deviations_are_doubles(function):
    assert type_of(function, pa.int32()) == pa.float64()


@pytest.mark.parametrize("function", ["min", "max"])
@pytest.mark.parametrize("argument", [pa.string(), pa.timestamp("us"), pa.int16(), pa.float32(), pa.bool_()])
def test_extremes_keep_the_type_of_their_argument(function, argument):
    assert type_of(function, argument) == argument


@pytest.mark.parametrize("function", ["count", "count_distinct"])
def test_counts_are_whole_numbers(function):
    assert type_of(function, pa.string()) == pa.int64()


def test_aggregates_over_one_column_share_what_they_remember():
    folds = [Fold(function, "x", pa.float64(), function) for function in FUNCTIONS]
    assert [each.name for each in accumulators_of(folds)] == [
        *("total(x)", "count(x)", "distinct(x)", "greatest(x)", "least(x)", "squares(x)"),
    ]


def test_sum_and_deviation_of_bigint_remember_different_totals():
    folds = [Fold(function, "x", pa.int64(), function) for function in ("sum", "stddev_pop")]
    assert [each.name for each in accumulators_of(folds)] == ["whole(x)", "count(x)", "total(x)", "squares(x)"]
