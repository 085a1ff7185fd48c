import pyarrow as pa
import pytest

from skerry.model.types import SQL_TYPES, sql_name


@pytest.mark.parametrize("name", SQL_TYPES)
def test_type_is_named_as_it_was_declared(name):
    assert sql_name(SQL_TYPES[name]) == name


def test_type_that_sql_has_no_word_for_keeps_arrows():
    assert sql_name(pa.float16()) == "halffloat"
