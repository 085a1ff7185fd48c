import numpy as np
import pytest

from skerry.experiments.snjoin.figure4_probing_sequences import (
    SequenceCourse,
    count_probes,
    estimate_probes,
    measure_probing_sequences,
)


@pytest.fixture(scope="module")
def figure():
    return measure_probing_sequences(SequenceCourse((4, 8), 64), lambda progress: None)


def test_estimates_are_right_for_independent_tables_of_equal_values():
    random = np.random.default_rng(1)
    matches = random.binomial(50, 0.02, (20_000, 3))
    estimated = estimate_probes(np.full(3, 0.02), np.full(3, 50.0))
    assert count_probes(matches).mean() == pytest.approx(estimated, rel=0.02)


def test_no_technique_probes_more_tables_than_there_are(figure):
    for technique in figure.techniques():
        for streams, probes in zip(*figure.line(technique, "probes"), strict=True):
            assert 1 <= probes <= streams


def test_every_technique_has_a_row_per_size(figure):
    assert figure.techniques() == ["mjoin", "mjoin as given", "mjoin descending", "snjoin", "snjoin*"]
    assert figure.table.num_rows == 10
    assert figure.verdicts
