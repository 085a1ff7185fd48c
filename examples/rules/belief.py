"""What tracking.dl computes at one node: how sure it is of the vehicle, and what a neighbour could add to that."""


def updated(belief: float, sensed: float) -> float:
    """How sure a leader is after its own sensor has said how likely the vehicle is here (Bayes)."""
    here, elsewhere = belief * sensed, (1 - belief) * (1 - sensed)
    return round(here / (here + elsewhere), 6)


def utility(belief: float, sensed: float, neighbour_sensed: float) -> float:
    """How much the reading of a neighbour would move that belief."""
    now = updated(belief, sensed)
    return round(abs(updated(now, neighbour_sensed) - now), 6)
