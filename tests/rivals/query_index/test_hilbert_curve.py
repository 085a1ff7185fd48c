from itertools import product

import numpy as np
import pytest

from skerry.errors import KernelError
from skerry.rivals.query_index.hilbert_curve import hilbert_keys


@pytest.mark.parametrize(("axes", "bits"), [(1, 3), (2, 1), (2, 4), (3, 2), (4, 2), (5, 1)])
def test_curve_visits_every_cell_and_goes_from_neighbour_to_neighbour(axes, bits):
    cells = np.array(list(product(range(2**bits), repeat=axes)), np.int32).T
    keys = hilbert_keys(cells, bits)
    assert sorted(keys.tolist()) == list(range(2 ** (axes * bits)))
    steps = np.abs(np.diff(cells[:, np.argsort(keys)], axis=1)).sum(axis=0)
    assert set(steps.tolist()) == {1}


def test_cube_with_more_cells_than_keys_is_refused():
    with pytest.raises(KernelError, match="between 1 and 63, got 8 8"):
        hilbert_keys(np.zeros((8, 1), np.int32), 8)
