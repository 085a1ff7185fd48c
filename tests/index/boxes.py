"""Boxes and points over small domains, with ends that touch, and the ends of all codes among them."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from skerry.kernels.index.grid import GREATEST, LEAST


class Case(NamedTuple):
    """Boxes and points, axis by box or row."""

    lows: np.ndarray
    highs: np.ndarray
    points: np.ndarray


@st.composite
def cases(draw, min_boxes=0, max_boxes=300, max_axes=5):
    """Drawn at random from a seed: so many boxes are more than is worth shrinking one by one."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    axes, boxes = draw(st.integers(1, max_axes)), draw(st.integers(min_boxes, max_boxes))
    spread, width = draw(st.sampled_from([3, 20, 1000])), draw(st.sampled_from([1, 4, 400]))
    lows = random.integers(-spread, spread, (axes, boxes))
    highs = lows + random.integers(-1, width, (axes, boxes))
    open_low, open_high = random.random((2, axes, boxes)) < draw(st.sampled_from([0.0, 0.3, 0.9]))
    lows, highs = np.where(open_low, LEAST, lows), np.where(open_high, GREATEST, highs)
    extremes = random.random((axes, boxes)) < 0.02
    highs = np.where(extremes, random.choice([LEAST, LEAST + 1, GREATEST - 1], (axes, boxes)), highs)
    points = random.integers(-spread - 2, spread + 2, (axes, draw(st.integers(0, 20))))
    return Case(lows, highs, np.where(random.random(points.shape) < 0.05, random.choice([LEAST, GREATEST]), points))


def inside(case, boxes=None):
    """The pairs of a point and a box that it is in."""
    boxes = range(case.lows.shape[1]) if boxes is None else boxes
    return sorted(
        (row, box)
        for row in range(case.points.shape[1])
        for box in boxes
        if (case.lows[:, box] <= case.points[:, row]).all() and (case.points[:, row] <= case.highs[:, box]).all()
    )


def pairs(found):
    """Two arrays as sorted pairs."""
    return sorted(zip(found[0].tolist(), found[1].tolist(), strict=True))
