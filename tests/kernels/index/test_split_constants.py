import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skerry.kernels.index.split_constants import split_constants
from skerry.kernels.index.text_codes import Bytes
from tests.oracles.split_constants import split

pieces = st.sampled_from(
    [
        *(
            "speed",
            " < ",
            "IN",
            " in ",
            "(",
            ")",
            ", ",
            ",",
            "'a'",
            "'it''s'",
            "''",
            "'",
            "30",
            "4.5",
            "1e5",
            "1E-12",
            ".",
        ),
        *(
            "1e123",
            "7",
            " ",
            "\n",
            "--",
            "/*",
            "-",
            "*",
            "/",
            "x1",
            "'é--'",
            "é",
            "123456789012345678",
            "0.1234567890123456",
        ),
        *(
            "e",
            "+",
            "\\",
            "'a\\'",
            '"',
            "#",
            "'#/*'",
            "IN (1, 2)",
            " IN('a' , 'b')",
            "In ( 1.5,2.25 )",
            "min (1, 2)",
            "_",
        ),
    ]
)


def split_all(texts):
    encoded = [text.encode() for text in texts]
    data = b"".join(encoded)
    found = split_constants(Bytes(np.cumsum([0, *map(len, encoded)]), np.frombuffer(data, np.uint8)))
    forms, offsets = found.forms.data.tobytes(), found.forms.offsets
    for number, plain in enumerate(found.plain.tolist()):
        ends = range(*found.firsts[number : number + 2])
        constants = [data[found.starts[index] : found.ends[index]].decode() for index in ends]
        yield (forms[offsets[number] : offsets[number + 1]].decode(), constants) if plain else None


@given(texts=st.lists(st.lists(pieces, max_size=12).map("".join), max_size=4))
@example(texts=["IN (1, 123456789012345678)", "IN(1.5,2.25) 1e+123 1.5.2 ''''", "sensor = '' OR IN\t('')"])
def test_texts_are_cut_as_by_regular_expressions(texts):
    assert list(split_all(texts)) == [split(text) for text in texts]


@pytest.mark.parametrize(
    "text", ["a = 'x", "a = E'x'", "a = 'x\\'", 'a = "b" AND c = 1', "a = 1 -- 2", "a = 1 /* 2", "$1"]
)
def test_text_in_which_more_may_be_hidden_is_not_plain(text):
    assert list(split_all([text, "a = 1"])) == [None, ("a = 0", ["1"])]
