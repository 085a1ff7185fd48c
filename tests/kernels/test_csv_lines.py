import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skerry.kernels.csv_lines import mark_open_lines
from tests.oracles.text_files import count_fields


@given(st.lists(st.text('",a ', max_size=9)))
def test_open_lines_are_those_that_end_inside_quotes(texts):
    lines = [text.encode() + b"\n" for text in texts]
    bounds = np.cumsum([0, *map(len, lines)]).astype(np.int32)
    marks = mark_open_lines(bounds, np.frombuffer(b"".join(lines), np.uint8), ",")
    assert marks.tolist() == [count_fields(line, ",") is None for line in lines]
