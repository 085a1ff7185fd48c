"""Links come and go while a view runs, and motes die."""

from collections.abc import Callable
from pathlib import Path

import pytest

from skerry.network.network import Network
from skerry.network.views import flow
from tests.network.views.scripts import answer, write_field

STREAMS = {
    name: [(mote, second, (mote + second) % 4, (mote + second) % 5) for second in range(6) for mote in range(12)]
    for name in "ab"
}


def disturb(monkeypatch: pytest.MonkeyPatch, change: Callable[[Network], None]) -> None:
    """Have something done to the network of a view after 3 seconds."""

    def make(*arguments: object) -> Network:
        network = Network(*arguments)  # type: ignore[arg-type]
        network.simulation.at(3_000_000, change, network)
        return network

    monkeypatch.setattr(flow, "Network", make)


@pytest.mark.parametrize(
    ("view", "place"),
    [("chosen", "server"), ("mean", "tree"), ("mean", "cluster")]
    + [("pairs", place) for place in ("hash", "cluster", "broadcast", "perpendicular")],
)
def test_answers_are_the_same_when_links_come_and_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, view: str, place: str
) -> None:
    script = write_field(tmp_path, "grid:3x4", STREAMS, view, place)

    def change(network: Network) -> None:
        for one, other in ((5, 6), (1, 5), (4, 8)):
            network.cut(one, other)
        network.join(0, 11)

    disturb(monkeypatch, change)
    assert answer(tmp_path, script, "network", 20)[0] == answer(tmp_path, script, "fjord")[0]


def test_a_part_that_is_cut_off_is_missing_and_the_rest_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(network: Network) -> None:
        for other in network.topology.neighbours[0]:
            network.cut(0, other)

    disturb(monkeypatch, change)
    script = write_field(tmp_path, "grid:3x4", STREAMS, "chosen", "server")
    missing = answer(tmp_path, script, "fjord")[0] - answer(tmp_path, script, "network", 20)[0]
    assert missing
    assert all("'mote': 0," in row for row in missing)


@pytest.mark.parametrize("place", ["tree", "cluster"])
def test_what_was_to_be_folded_at_a_mote_that_is_cut_off_goes_to_the_base_station(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def change(network: Network) -> None:
        for other in network.topology.neighbours[4]:
            network.cut(4, other)

    disturb(monkeypatch, change)
    script = write_field(tmp_path, "grid:3x4", STREAMS, "by_key", place).replace("v > 1", "v > 1 AND mote <> 4")
    assert answer(tmp_path, script, "network", 20)[0] == answer(tmp_path, script, "fjord")[0]


def test_nobody_is_informed_of_a_death_so_what_goes_by_way_of_it_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disturb(monkeypatch, lambda network: network.kill(1))
    script = write_field(tmp_path, "grid:1x12", STREAMS, "chosen", "server")
    missing = answer(tmp_path, script, "fjord")[0] - answer(tmp_path, script, "network", 20)[0]
    assert {row.split(",")[0] for row in missing} == {"{'mote': 0", "{'mote': 1"}
