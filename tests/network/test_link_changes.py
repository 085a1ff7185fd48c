import pytest

from skerry.errors import InputError
from skerry.network.link_changes import LinkChange, read_link_changes, schedule_changes
from skerry.network.network import Network
from skerry.network.topology.grid import make_grid


def read(folder, *lines, motes=9):
    path = folder / "changes.csv"
    path.write_text("\n".join(["time,from,to,op", *lines]) + "\n")
    return read_link_changes(path, motes)


def test_links_and_motes_are_read(tmp_path):
    assert read(tmp_path, "0.5,0,1,-", "2,4,,-", "1e1, 4,,+") == [
        LinkChange(500_000, 0, 1, False),
        LinkChange(2_000_000, 4, None, False),
        LinkChange(10_000_000, 4, None, True),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("-1,0,1,-", "line 2: time is seconds from the start of a run; got '-1'"),
        ("soon,0,1,-", "line 2: not a number: 'soon'"),
        ("nan,0,1,-", "line 2: not a finite number: 'nan'"),
        ("1,0,9,-", "line 2: a link joins two different motes of 0 to 8; got 0 and 9"),
        ("1,3,3,+", "line 2: a link joins two different motes of 0 to 8; got 3 and 3"),
        ("1,a,3,+", "line 2: a mote is a whole number from 0 on; got 'a'"),
        ("1,0,1,cut", r"line 2: op is \+ \(is there\) or - \(is gone\); got 'cut'"),
        ("1,0,1", "line 2: not as many values as columns"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(tmp_path, line, message):
    with pytest.raises(InputError, match=message):
        read(tmp_path, line)


def test_changes_happen_in_time_and_twice_changes_nothing():
    network, noticed = Network(make_grid(1, 3)), []
    network.on_change = lambda: noticed.append((network.simulation.now, network.living_topology.neighbours))
    schedule_changes(
        network,
        [
            LinkChange(5, 0, 1, False),
            LinkChange(6, 1, 0, False),
            LinkChange(7, 2, None, False),
            LinkChange(8, 2, None, False),
        ],
    )
    network.simulation.run()
    assert noticed == [(5, ((), (2,), (1,))), (7, ((), (), ()))]
    assert network.topology.neighbours == ((), (2,), (1,))
