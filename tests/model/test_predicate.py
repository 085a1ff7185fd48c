import math
import pickle

import pyarrow as pa
import pytest

from skerry.errors import InputError
from skerry.model.predicate import SIGNS, All, Compared, Holds, Missing, Negated, Some

READINGS = pa.record_batch({"speed": [1.0, 2.0, 3.0, math.nan, None], "wet": [True, False, None, True, False]})
WET = Holds("wet")


def speed(sign):
    return Compared("speed", sign, pa.scalar(2.0))


@pytest.mark.parametrize(
    ("sign", "expected"),
    [
        ("<", [True, False, False, False, None]),
        ("<=", [True, True, False, False, None]),
        ("<>", [True, False, True, True, None]),
        ("=", [False, True, False, False, None]),
        (">", [False, False, True, True, None]),
        (">=", [False, True, True, True, None]),
    ],
)
def test_nan_is_greater_than_all_numbers_and_null_stays_null(sign, expected):
    assert speed(sign).marks(READINGS).to_pylist() == expected


def test_every_sign_is_known():
    assert sorted(SIGNS) == ["<", "<=", "<>", "=", ">", ">="]


@pytest.mark.parametrize("constant", [math.nan, None])
def test_what_nothing_compares_with_is_no_constant(constant):
    with pytest.raises(InputError):
        Compared("speed", "<", pa.scalar(constant, pa.float64()))


def test_unknown_sign_is_refused():
    with pytest.raises(InputError):
        Compared("speed", "!", pa.scalar(2.0))


def test_false_wins_over_null_where_all_must_hold():
    assert All((WET, speed("<"))).marks(READINGS).to_pylist() == [True, False, False, False, False]


def test_true_wins_over_null_where_one_is_enough():
    assert Some((WET, speed("<>"))).marks(READINGS).to_pylist() == [True, False, True, True, None]


def test_negation_of_null_is_null():
    assert Negated(WET).marks(READINGS).to_pylist() == [False, True, None, False, True]


def test_nan_is_not_missing():
    assert Missing("speed").marks(READINGS).to_pylist() == [False, False, False, False, True]


def test_part_of_a_batch_is_asked_about_that_part():
    assert All((WET, speed("<="))).marks(READINGS.slice(1, 2)).to_pylist() == [False, False]


def test_predicate_travels():
    both = All((Negated(Missing("speed")), Some((WET, speed("<")))))
    assert pickle.loads(pickle.dumps(both)) == both
