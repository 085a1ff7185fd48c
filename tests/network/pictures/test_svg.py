from xml.etree import ElementTree

import pytest

from skerry.errors import OptionError
from skerry.network.pictures.svg import draw_scene, write_picture
from skerry.network.topology.grid import make_grid
from skerry.network.topology.topology import Topology
from tests.network.pictures.scenes import make_scene


def read_titles(scene) -> list[str]:
    return [
        element.text for element in ElementTree.fromstring(draw_scene(scene)).iter() if element.tag.endswith("title")
    ]


def test_picture_says_the_load_of_every_mote_and_the_traffic_of_every_link_used():
    assert read_titles(make_scene()) == [
        "0 and 1: 1 messages",
        "1 and 2: 1 messages",
        "mote 0: 0 messages",
        "mote 1: 1 messages",
        "mote 2: 1 messages",
    ]


def test_arrow_is_drawn_for_every_link_that_an_answer_names():
    without, one = (draw_scene(make_scene(steps=frozenset(steps))) for steps in ([], [(1, 0)]))
    assert one.count("<path") - without.count("<path") == 1 + 2  # in the field, and two parts in the legend
    assert "an answer names it" in one
    assert "an answer names it" not in without


def test_text_that_looks_like_markup_is_text():
    assert "<b>" not in draw_scene(make_scene("<b>&"))
    ElementTree.fromstring(draw_scene(make_scene("<b>&")))


@pytest.mark.parametrize("size", [0, 1, 2])
def test_smallest_networks_and_silence_are_drawn(size):
    ElementTree.fromstring(draw_scene(make_scene(topology=Topology.of_links(size, []), sent=[], steps=frozenset())))


def test_numbers_are_written_where_they_can_be_read():
    small, large = (draw_scene(make_scene(topology=make_grid(size, size))) for size in (7, 30))
    assert ">48</text>" in small
    assert ">899</text>" not in large


def test_picture_that_cannot_be_written_is_reported(tmp_path):
    with pytest.raises(OptionError, match=r"cannot write the picture .*: No such file"):
        write_picture(make_scene(), tmp_path / "none" / "run.svg")
