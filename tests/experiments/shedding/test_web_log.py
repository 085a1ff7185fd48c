import gzip

import numpy as np
import pytest

from skerry.experiments.shedding.web_log import PAGES, WINDOW_US, keep_first_visits, read_web_log
from skerry.model.time import MICROS, seconds


@pytest.fixture
def write(tmp_path):
    def write(*lines: bytes):
        path = tmp_path / "log.gz"
        path.write_bytes(gzip.compress(b"\n".join(lines) + b"\n"))
        return path

    return write


def line(host: str, clock: str, page: str) -> bytes:
    return f'{host} - - [01/Aug/1995:{clock} -0400] "GET {page} HTTP/1.0" 200 7'.encode()


def test_requests_for_the_pages_are_tuples_in_order_of_time(write):
    log = write(
        line("b", "00:00:09", PAGES[1]), line("a", "00:00:07", PAGES[0]), line("a", "00:00:08", "/images/logo.gif")
    )
    read = read_web_log(log)
    assert read.streams.tolist() == [0, 1]
    assert np.diff(read.starts).tolist() == [seconds(2)]
    assert (read.ends - read.starts == WINDOW_US).all()


def test_hosts_are_numbered_as_they_are_first_seen(write):
    log = write(*(line(host, "00:00:07", PAGES[0]) for host in ("a", "b", "a")))
    assert read_web_log(log).keys.tolist() == [0, 1, 0]


def test_garbled_lines_are_passed_over(write):
    good = line("a", "00:00:07", PAGES[0])
    garbled = [
        b"",
        b"\xff\xfe" * 9,
        good[:30],
        good.replace(b"Aug", b"Foo"),
        good.replace(b"01/", b"99/"),
        b'a - - [] ""',
    ]
    assert read_web_log(write(*garbled, good, *garbled)).keys.size == 1


def test_empty_log_has_no_tuples(write):
    assert read_web_log(write()).keys.size == 0


def test_further_visits_count_again_after_a_window(write):
    hours = ["01/Aug/1995:00", "01/Aug/1995:23", "02/Aug/1995:00", "02/Aug/1995:01"]
    lines = [line("a", "00:00:00", PAGES[0]).replace(b"01/Aug/1995:00", hour.encode()) for hour in hours]
    visits = keep_first_visits(read_web_log(write(*lines)))
    assert ((visits.starts - visits.starts[0]) // MICROS["HOUR"]).tolist() == [0, 25]
