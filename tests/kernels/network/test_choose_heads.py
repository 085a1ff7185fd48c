import numpy as np
import pytest

from skerry.kernels.network.choose_heads import choose_heads, learn, rank_heads

NO_MATRIX = np.empty((0, 0, 0))
RULES = (1, 0.05, False)


def test_heads_rank_by_what_they_find_per_probe_and_member():
    order, starts = np.arange(3), np.array([0, 1, 3, 6])
    rank_heads(np.array([[10, 10], [60, 10], [30, 10]]), starts, order)
    assert order.tolist() == [1, 0, 2]


def test_a_head_that_was_never_asked_is_last():
    order = np.arange(2)
    rank_heads(np.array([[0, 0], [1, 10]]), np.array([0, 5, 10]), order)
    assert order.tolist() == [1, 0]


def test_without_a_matrix_all_others_are_probed_in_the_given_order():
    sequence = np.array([2, -1, -1, -1])
    assert choose_heads((0, 0, 0), sequence, NO_MATRIX, np.array([3, 2, 0, 1]), RULES) == 4
    assert sequence.tolist() == [2, 3, 0, 1]


def test_the_most_relevant_come_first():
    sequence, matrix = np.array([0, -1, -1]), np.array([[[1.0, 0.99999999, 1.0]]])
    assert choose_heads((0, 0, 0), sequence, matrix, np.arange(3), RULES) == 3
    assert sequence.tolist() == [0, 2, 1]


def test_shares_above_the_mean_raise_an_entry_and_the_others_lower_it():
    matrix = np.full((1, 1, 3), 0.5)
    learn(matrix, 0, np.array([0, 1, 2]), np.array([4, 5, 1]), RULES)
    assert matrix[0, 0].tolist() == pytest.approx([0.5, 0.7, 0.3])


def test_an_empty_answer_teaches_nothing():
    matrix = np.full((1, 1, 2), 0.5)
    learn(matrix, 0, np.array([0, 1]), np.array([0, 0]), RULES)
    assert matrix[0, 0].tolist() == [0.5, 0.5]
