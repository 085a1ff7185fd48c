import pytest

from skerry.errors import InputError
from skerry.network.snjoin.probers import ProbeRelevant
from skerry.network.snjoin.relevance import Relevance, RelevanceSettings
from skerry.network.snjoin.wire import Note, SensorTuple

VALUE = 7


def test_entries_stay_between_least_and_one():
    matrix = Relevance(2, RelevanceSettings(least=0.1))
    for _ in range(20):
        matrix.learn(Note(VALUE, ((0, 1.0), (1, 0.0))))
    assert matrix.rate(VALUE).tolist() == [1.0, 0.1]


def test_a_head_probed_alone_tells_nothing():
    matrix = Relevance(2)
    matrix.learn(Note(VALUE, ((0, 1.0),)))
    assert matrix.rate(VALUE).tolist() == [0.5, 0.5]


def test_a_note_on_no_heads_changes_nothing():
    matrix = Relevance(2)
    matrix.learn(Note(VALUE, ()))
    assert matrix.rate(VALUE).tolist() == [0.5, 0.5]


def test_values_of_other_cells_keep_their_entries():
    matrix = Relevance(2, RelevanceSettings(cells=1_000))
    matrix.learn(Note(VALUE, ((0, 1.0), (1, 0.0))))
    assert matrix.rate(VALUE + 1).tolist() == [0.5, 0.5]


def test_normalised_probabilities_of_the_others_sum_to_one():
    matrix = Relevance(4, RelevanceSettings(normalised=True))
    assert matrix.find_probabilities(VALUE, own=1).tolist() == pytest.approx([1 / 3, 0, 1 / 3, 1 / 3])


def test_heads_are_probed_as_often_as_they_are_relevant_and_the_own_never():
    prober = ProbeRelevant(2, 3, RelevanceSettings(), seed=1)
    prober.learn(Note(VALUE, ((0, 0.4), (1, 0.0))))
    chosen = [prober.choose(SensorTuple(VALUE, time, 5)) for time in range(2_000)]
    shares = [sum(head in heads for heads in chosen) / 2_000 for head in range(3)]
    assert shares == pytest.approx([0.7, 0.3, 0.0], abs=0.05)


def test_the_most_relevant_head_is_probed_first():
    prober = ProbeRelevant(2, 3, RelevanceSettings(base=1.0, least=0.9), seed=1)
    prober.learn(Note(VALUE, ((0, 0.0), (1, 0.5))))
    assert {prober.choose(SensorTuple(VALUE, time, 5)) for time in range(50)} == {(1, 0), (1,)}


def test_a_base_below_the_least_entry_is_refused():
    with pytest.raises(InputError, match="least <= base"):
        RelevanceSettings(base=0.01)
