from hypothesis import given
from hypothesis import strategies as st

from skerry.kernels.joins.amjoin import absences, is_missing, no_vectors, note
from skerry.kernels.joins.chained_tables import empty_chains, insert_all
from tests.kernels.tuples import arrivals, hashed, packed
from tests.oracles import rivals
from tests.oracles.rivals import Arrival


def vectors_of(tuples, stream_count, expected=0):
    return absences(insert_all(empty_chains(stream_count), packed(tuples, stream_count)), expected)


@given(arrivals(), st.integers(0, 50))
def test_vectors_agree_with_sets(drawn, expected):
    stream_count, tuples = drawn
    vectors = vectors_of(tuples, stream_count, expected)
    for key in {each.key for each in tuples} | {5}:
        found = rivals.is_missing(tuples, stream_count, key, vectors.shape[0])
        assert is_missing(vectors, hashed(key)) == found


@given(arrivals(), st.integers(0, 25))
def test_tuple_that_is_noted_is_as_one_in_the_tables(drawn, position):
    stream_count, tuples = drawn
    vectors = vectors_of(tuples[:position], stream_count, len(tuples[position:]))
    for each in tuples[position:]:
        note(vectors, hashed(each.key), each.stream)
    assert vectors.tolist() == vectors_of(tuples, stream_count).tolist()


def test_streams_may_fill_several_words():
    tuples = [Arrival(stream, 7, 0, 0, 0) for stream in range(130)]
    assert not is_missing(vectors_of(tuples, 130), hashed(7))
    assert all(is_missing(vectors_of(tuples[:lost] + tuples[lost + 1 :], 130), hashed(7)) for lost in (0, 63, 64, 129))


def test_without_vectors_nothing_is_missing():
    assert not is_missing(no_vectors(), hashed(7))
