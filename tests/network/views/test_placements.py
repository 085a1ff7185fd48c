"""Wherever the rows of a view meet, its answers are those of the runtime in this process, and cost what was said."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.errors import InputError, OptionError
from skerry.network.views.describe import describe_placements
from tests.network.views.scripts import Reading, answer, survey, write_field

MOTES = 12
TOPOLOGIES = ("grid:3x4", "geometric:12:0.6:1", "tree:12:2", "grid:1x12")
PLACES = {
    "mean": ("server", "tree", "cluster"),
    "by_key": ("server", "tree", "cluster", "hash"),
    "pairs": ("server", "hash", "cluster", "broadcast", "perpendicular"),
    "triples": ("server", "hash", "cluster", "broadcast", "perpendicular"),
    "absent": ("server", "hash"),
    "chosen": ("server",),
}
readings = st.lists(
    st.tuples(st.integers(0, MOTES - 1), st.integers(0, 9), st.integers(0, 2), st.integers(0, 4)), max_size=14
)


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, str, str]:
    """A view, a topology, and a placement that the view can have there."""
    view, topology = draw(st.sampled_from(sorted(PLACES))), draw(st.sampled_from(TOPOLOGIES))
    return view, topology, draw(st.sampled_from(PLACES[view]))


def check(case: tuple[str, str, str], a: list[Reading], b: list[Reading], step_rows: int) -> None:
    """Same answers, and about as many messages as was said."""
    view, topology, place = case
    with tempfile.TemporaryDirectory() as name:
        folder, streams = Path(name), {"a": sorted(a, key=lambda one: one[1]), "b": sorted(b, key=lambda one: one[1])}
        script = write_field(folder, topology, streams, view, place)
        expected, _ = answer(folder, script, "fjord")
        found, figures = answer(folder, script, "network", step_rows)
        assert found == expected
        assert figures.get("messages", 0) == pytest.approx(survey(folder, script).cost.messages)


@settings(max_examples=20, deadline=None)
@given(cases(), readings, readings, st.sampled_from([5, 1000]))
def test_every_placement_gives_the_answers_of_one_process(
    case: tuple[str, str, str], a: list[Reading], b: list[Reading], step_rows: int
) -> None:
    check(case, a, b, step_rows)


@pytest.mark.soak
@settings(max_examples=400, deadline=None)
@given(cases(), readings, readings, st.sampled_from([3, 1000]))
def test_many_views_are_answered_alike_in_a_network(
    case: tuple[str, str, str], a: list[Reading], b: list[Reading], step_rows: int
) -> None:
    check(case, a, b, step_rows)


@pytest.mark.parametrize("view", ["mean", "by_key", "chosen"])
def test_what_goes_up_is_counted_exactly(tmp_path: Path, view: str) -> None:
    streams = {"a": [(mote, second, mote % 3, second % 5) for second in range(10) for mote in range(MOTES)]}
    for place in PLACES[view][:2]:
        script = write_field(tmp_path, "grid:3x4", streams, view, place)
        _, figures = answer(tmp_path, script, "network", 7)
        cost = survey(tmp_path, script).cost
        assert figures["messages"] == cost.messages
        assert figures["bytes"] == pytest.approx(cost.bytes, rel=0.1)


def test_last_rows_go_by_the_order_at_the_base_station(tmp_path: Path) -> None:
    apart = {"a": [(9, 0, 1, 0), (0, 2, 1, 0)], "b": [(3, 1, 1, 0), (7, 3, 1, 0)]}
    script = write_field(tmp_path, "grid:3x4", apart, "recent", "server")
    assert answer(tmp_path, script, "network")[0] == answer(tmp_path, script, "fjord")[0]
    near_last = {"a": [(mote, 0, 1, 0) for mote in reversed(range(MOTES))], "b": [(0, 1, 1, 0)]}
    script = write_field(tmp_path, "grid:1x12", near_last, "recent", "server", ", base_station='0'")
    far, near = answer(tmp_path, script, "network")[0], answer(tmp_path, script, "fjord")[0]
    assert set(near) == {repr({"one": mote, "other": 0}) for mote in (2, 1, 0)}
    assert set(far) == {repr({"one": mote, "other": 0}) for mote in (11, 10, 9)}


def test_folding_on_the_way_costs_a_message_per_mote_and_slice(tmp_path: Path) -> None:
    streams = {"a": [(mote, second, 0, 1) for second in range(8) for mote in range(MOTES)]}
    _, figures = answer(tmp_path, write_field(tmp_path, "grid:3x4", streams, "mean", "tree"), "network")
    assert figures["messages"] == (MOTES - 1) * 2


def test_auto_takes_what_costs_least(tmp_path: Path) -> None:
    streams = {"a": [(mote, second, 0, 3) for second in range(8) for mote in range(MOTES)]}
    placed = survey(tmp_path, write_field(tmp_path, "grid:3x4", streams, "mean", "auto"))
    assert placed.placement.name == "tree"
    assert placed.cost.energy_mj == min(cost.energy_mj for _, cost in placed.costs)


def test_what_is_lost_on_the_way_is_missing_and_retries_bring_it_back(tmp_path: Path) -> None:
    streams = {"a": [(mote, second, 0, 3) for second in range(8) for mote in range(MOTES)]}
    whole, plain = answer(tmp_path, write_field(tmp_path, "grid:3x4", streams, "chosen", "server"), "network")
    lossy = write_field(tmp_path, "grid:3x4", streams, "chosen", "server", ", link_loss='0.4'")
    some, _ = answer(tmp_path, lossy, "network")
    again, more = answer(tmp_path, lossy.replace("0.4'", "0.4', link_retries='30'"), "network")
    assert some < whole == again
    assert more["messages"] > plain["messages"]


@pytest.mark.parametrize("place", ["tree", "cluster"])
def test_what_is_folded_comes_whole_if_it_is_repeated_until_it_is_heard(tmp_path: Path, place: str) -> None:
    streams = {"a": [(mote, second, 0, 3) for second in range(8) for mote in range(MOTES)]}
    script = write_field(tmp_path, "grid:3x4", streams, "mean", place, ", link_loss='0.4', link_retries='30'")
    assert answer(tmp_path, script, "network")[0] == answer(tmp_path, script, "fjord")[0]


@pytest.mark.parametrize("retries", [0, 1])
def test_costs_are_as_expected_where_links_have_losses_of_their_own(tmp_path: Path, retries: int) -> None:
    links = [(mote, mote + 1, mote % 4 / 10) for mote in range(11)] + [(0, 5, 0.3), (3, 9, 0.1), (6, 11, 0.2)]
    (tmp_path / "links.csv").write_text("from,to,loss\n" + "\n".join(f"{a},{b},{loss}" for a, b, loss in links))
    streams = {
        name: [(mote, second, (mote * 7 + second) % 5, mote % 5) for second in range(30) for mote in range(MOTES)]
        for name in "ab"
    }
    for view, place in (("pairs", "cluster"), ("pairs", "perpendicular"), ("by_key", "hash"), ("by_key", "tree")):
        more = f", link_retries='{retries}'"
        script = write_field(tmp_path, "file:links.csv", streams, view, place, more)
        _, figures = answer(tmp_path, script, "network")
        placed = survey(tmp_path, script)
        assert figures["messages"] == pytest.approx(placed.cost.messages, rel=0.15)
        assert placed.cost.arrival < 1.0


def test_what_losses_cost_a_view_is_counted(tmp_path: Path) -> None:
    streams = {"a": [(mote, second, 0, 3) for second in range(8) for mote in range(MOTES)]}
    script = write_field(tmp_path, "grid:3x4", streams, "chosen", "server", ", link_loss='0.2'")
    found, figures = answer(tmp_path, script, "network", 20)
    true, _ = answer(tmp_path, script, "fjord")
    assert figures["true_answers"] == true.total() == found.total() + figures["answers_missed"]
    assert figures.get("answers_wrong", 0) == 0


def test_explain_says_what_arrives_and_what_is_not_offered(tmp_path: Path) -> None:
    streams = {"a": [(1, 0, 0, 3)], "b": [(2, 0, 0, 3)]}
    script = write_field(tmp_path, "grid:3x4", streams, "pairs", "auto", ", link_loss='0.2'")
    table = describe_placements(survey(tmp_path, script))
    assert "arrive" in table
    assert "x to the head of its cluster, y to all cluster heads" in table
    assert "local" in table.splitlines()[-1]


def test_a_view_refuses_a_placement_that_would_be_wrong(tmp_path: Path) -> None:
    script = write_field(tmp_path, "tree:12:2", {"a": [(0, 0, 0, 0)], "b": [(0, 0, 0, 0)]}, "absent", "broadcast")
    with pytest.raises(OptionError, match="known are server, hash"):
        answer(tmp_path, script, "network")


def test_a_reading_of_a_mote_that_is_not_there_is_refused(tmp_path: Path) -> None:
    script = write_field(tmp_path, "grid:3x4", {"a": [(12, 0, 0, 0)]}, "chosen", "server")
    with pytest.raises(InputError, match=r"mote 12; grid:3x4 has 0 to 11"):
        answer(tmp_path, script, "network")


def test_a_source_in_no_network_is_refused(tmp_path: Path) -> None:
    script = write_field(tmp_path, "grid:3x4", {"a": [(1, 0, 0, 0)]}, "chosen", "server")
    with pytest.raises(InputError, match="in no network"):
        answer(tmp_path, script.replace(", topology='grid:3x4'", ""), "network")
