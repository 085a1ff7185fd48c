import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import InputError
from skerry.network.simulation import Simulation


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-1, 1))))
def test_events_happen_by_time_then_priority_then_sequence(events):
    simulation, done = Simulation(), []
    for number, (time, priority) in enumerate(events):
        simulation.at(time, done.append, (time, priority, number), priority=priority)
    simulation.run()
    assert done == sorted(done)
    assert simulation.events == len(events)


def test_run_stops_at_a_time_with_it():
    simulation, done = Simulation(), []
    for time in (1, 2, 3):
        simulation.at(time, done.append, time)
    simulation.run(until=2)
    assert (done, simulation.now) == ([1, 2], 2)


def test_past_is_refused():
    simulation = Simulation()
    simulation.run(until=10)
    with pytest.raises(InputError, match="it is 10 us"):
        simulation.at(9, print)
