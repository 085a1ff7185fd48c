import json

import pyarrow as pa

from skerry.pipeline.nan_keys import split_off_nan_keys


def test_values_of_every_type_stand_in_the_dead_letter():
    span = pa.array([pa.MonthDayNano([1, 0, 0])], pa.month_day_nano_interval())
    readings = pa.record_batch({"gas": [float("nan")], "tags": [["a", None]], "span": span, "day": pa.nulls(1)})
    kept, letters = split_off_nan_keys(readings, ["gas"], "a.csv")
    [letter] = letters.to_pylist()
    assert kept.num_rows == 0
    assert json.loads(letter["reading"])["tags"] == "['a', None]"
