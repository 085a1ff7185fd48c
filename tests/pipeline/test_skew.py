import pyarrow as pa
import pytest

from skerry.pipeline.skew import Load, hot_keys


def batch(*keys):
    return pa.record_batch({"k": pa.array(keys, pa.string()), "n": pa.array(range(len(keys)))})


def test_key_of_over_a_tenth_is_hot():
    assert hot_keys(batch(*("a" for _ in range(3)), *map(str, range(17))), ["k"]) == {"a": 3}


def test_even_keys_are_not_hot():
    assert hot_keys(batch(*map(str, range(100))), ["k"]) == {}


def test_hot_key_of_many_rows_is_found_in_a_sample():
    keys = ["a" if row % 4 == 0 else str(row) for row in range(100_003)]
    (found,) = hot_keys(batch(*keys), ["k"]).items()
    assert found[0] == "a"
    assert found[1] == pytest.approx(25_000, rel=0.1)


def test_key_of_several_columns_is_told_whole():
    assert hot_keys(batch("a"), ["k", "n"]) == {"a, 0": 1}


@pytest.mark.parametrize("rows", [batch(), batch("a")])
def test_nothing_is_hot_without_rows_or_keys(rows):
    assert hot_keys(rows, []) == {}


def test_even_load_is_not_told():
    assert Load({"0": 50, "1": 50, "2": 40}, {}).describe() is None


def test_fullest_bucket_is_told():
    assert Load({"0": 10, "1": 90}, {}).describe() == "skewed, the fullest of 2 buckets took 90 % of 100 rows"


def test_hottest_key_is_told():
    assert Load({"0": 50, "1": 50}, {"p": 11, "q": 40}).describe() == "skewed, key q has about 40 %"


def test_view_without_rows_is_not_skewed():
    assert Load({}, {}).describe() is None
