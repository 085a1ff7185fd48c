import random

import duckdb
import pyarrow as pa

from skerry.index.constants import evaluate_literals, is_double


def make_number(random_):
    digits, scale = random_.randint(1, 45), random_.randint(0, 30)
    text = str(random_.randint(0, 10**digits))
    fraction = f".{random_.randint(0, 10**scale):0{scale}}" if scale else ""
    exponent = f"e{random_.randint(-60, 60)}" if random_.random() < 0.3 else ""
    return text + fraction + exponent


def test_numbers_are_the_doubles_that_duckdb_makes_of_them():
    random_ = random.Random(7)
    numbers = [number for number in (make_number(random_) for _ in range(5_000)) if is_double(number)]
    listed = ", ".join(f"CAST({number} AS DOUBLE)" for number in numbers)
    expected = [row[0] for row in duckdb.sql(f"SELECT unnest([{listed}])").fetchall()]
    assert evaluate_literals(numbers, pa.float64(), duckdb.connect) == expected
    assert len(numbers) > 4_000
