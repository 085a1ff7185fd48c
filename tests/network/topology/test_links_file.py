import pytest

from skerry.errors import InputError
from skerry.network.topology.read_topology import read_topology


@pytest.fixture
def written(tmp_path):
    def write(text, name="links.csv"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def test_links_go_both_ways(written):
    path = written("from,to\n0,1\n2,1\n")
    found = read_topology(f"file:{path}")
    assert found.neighbours == ((1,), (0, 2), (1,))


def test_loss_holds_both_ways_unless_the_other_has_its_own(written):
    path = written("from,to,loss\n0,1,0.25\n1,2,0.5\n2,1,0.75\n2,3,\n")
    found = read_topology(f"file:{path}")
    assert found.losses == {(0, 1): 0.25, (1, 0): 0.25, (1, 2): 0.5, (2, 1): 0.75}


def test_file_of_a_spreadsheet_is_read(written):
    path = written("")
    path.write_bytes(b"\xef\xbb\xbffrom,to,loss\r\n0,1,0.99\r\n1, 2,0\r\n")
    found = read_topology(f"file:{path}")
    assert found.losses == {(0, 1): 0.99, (1, 0): 0.99, (1, 2): 0.0, (2, 1): 0.0}


def test_positions_come_from_a_second_file(written):
    links, positions = written("from,to\n0,1\n"), written("mote,x,y\n1,2.5,3\n0,0,0\n", "positions.csv")
    assert read_topology(f"file:{links}:{positions}").positions == ((0.0, 0.0), (2.5, 3.0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("from,to\n1,2\n", "0 has no link"),
        ("from,to\n0,a\n", "line 2: a mote is a whole number"),
        ("from,to\n0,-1\n", "a mote is a whole number"),
        ("from,to\n0,1\n0,0\n", "line 3: a link joins two different motes; got 0 twice"),
        ("from,to\n", "there is no link"),
        ("from;to;loss\n0;1;0.1\n", "no column 'from'; its columns: from;to;loss"),
        ("from,to\ns1,s2\n", "line 2: a mote is a whole number from 0 on; got 's1'"),
        ("from,to\n0,1\n1,7\n", "2 has no link, 7 has"),
        ("from,to\n0," + "1" * 5_000, "line 2: a mote is a whole number"),
        ("from,to,loss\n0,1,1.5\n", "a probability"),
        ("from,to,loss\n0,1,nan\n", "line 2: not a finite number"),
        ("from,to,loss\n0,1,x\n", "not a number"),
        ("from,to,loss\n0,1,0.1\n0,1,0.2\n", "of 0.1 before"),
        ("a,b\n0,1\n", "no column 'from'; its columns: a, b"),
        ("from,to\n0\n", "not as many values"),
        ("", "no column 'from'; its columns: none"),
    ],
)
def test_wrong_file_is_refused_with_the_reason(written, text, message):
    with pytest.raises(InputError, match=message):
        read_topology(f"file:{written(text)}")


def test_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_topology(f"file:{tmp_path / 'none.csv'}")


def test_position_of_an_unknown_mote_is_refused(written):
    links, positions = written("from,to\n0,1\n"), written("mote,x,y\n0,0,0\n1,1,1\n2,1,1\n", "positions.csv")
    with pytest.raises(InputError, match="mote 2 has no link"):
        read_topology(f"file:{links}:{positions}")
