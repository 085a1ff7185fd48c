import pytest

from skerry.errors import InputError
from skerry.network.topology.read_topology import read_topology

DELIVERED = " 1 1 0.0\n 1 2 0.75\n 2 1 0.5\n 2 3 0.9\n 3 2 0.1\n\n 3 1\n 7 2 1.0\n 1 0 0.8\n"


@pytest.fixture
def written(tmp_path):
    (tmp_path / "delivered.txt").write_text(DELIVERED)
    (tmp_path / "positions.txt").write_text("1 0 0\n2 1 0.5\n3 9 9\n7 2 2\n")
    return tmp_path


def test_links_deliver_both_ways_and_lose_per_direction(written):
    found = read_topology(f"measured:{written}/delivered.txt")  # motes 0, 1, 2 and 7
    assert found.neighbours == ((1,), (0, 2), (1, 3), (2,))
    assert found.losses[1, 2] == 0.25
    assert found.losses[2, 1] == 0.5
    assert found.losses[2, 3] == 0.0


def test_motes_without_a_position_are_left_out(written):
    found = read_topology(f"measured:{written}/delivered.txt:{written}/positions.txt")
    assert found.positions == ((0.0, 0.0), (1.0, 0.5), (2.0, 2.0))
    assert found.neighbours == ((1,), (0, 2), (1,))


def test_least_share_decides(written):
    found = read_topology(f"measured:{written}/delivered.txt:{written}/positions.txt:0.1")
    assert len(found) == 4


@pytest.mark.parametrize("text", ["1\n", "1 2 x\n", "1 2 1.5\n", "1.5 2 0.5\n", "-1 2 0.5\n"])
def test_wrong_lines_are_refused_with_their_number(tmp_path, text):
    (tmp_path / "wrong.txt").write_text("1 2 0.5\n" + text)
    with pytest.raises(InputError, match="line 2: "):
        read_topology(f"measured:{tmp_path}/wrong.txt")
