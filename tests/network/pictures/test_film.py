import json
import re

import pytest

from skerry.errors import OptionError
from skerry.network.message import Kind
from skerry.network.pictures import film
from skerry.network.pictures.film import describe_scene, make_film, write_film
from skerry.network.trace import Transmission
from tests.network.pictures.scenes import make_scene


def read_data(page: str) -> dict:
    return json.loads(re.search(r'<script id="data"[^>]*>(.*?)</script>', page, re.DOTALL)[1])


def test_page_has_the_run_in_it():
    scene = make_scene()
    assert read_data(make_film(scene)) == json.loads(json.dumps(describe_scene(scene)))


def test_transmission_says_who_heard_it_when_and_who_did_not():
    kinds = list(Kind)
    assert describe_scene(make_scene())["sent"] == [
        [0, 1, -1, kinds.index(Kind.STORAGE), [0, 5, 2, 6], []],
        [6, 2, 1, kinds.index(Kind.RESULT), [], [1]],
    ]


def test_page_asks_for_nothing_from_outside():
    page = make_film(make_scene())
    assert not re.search(r"https?:|\bsrc=|\bhref=|url\(|@import|fetch\(", page)


def test_title_cannot_end_the_script():
    page = make_film(make_scene("</script><script>alert(1)"))
    assert page.count("<script") == 2
    assert read_data(page)["title"] == "</script><script>alert(1)"


def test_film_says_how_many_messages_it_leaves_out(monkeypatch):
    monkeypatch.setattr(film, "MOST_SHOWN", 2)
    data = describe_scene(make_scene(sent=[Transmission(time, 0, 1, Kind.JOIN, 12) for time in range(5)]))
    assert (len(data["sent"]), data["total"]) == (2, 5)


def test_film_that_cannot_be_written_is_reported(tmp_path):
    with pytest.raises(OptionError, match=r"cannot write the film .*: No such file"):
        write_film(make_scene(), tmp_path / "none" / "run.html")
