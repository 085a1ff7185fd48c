"""A web server's log as streams, a page each, of the hosts that ask for it."""

import gzip
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import numpy as np

from skerry.experiments.shedding.workload import select
from skerry.kernels.joins.snjoin import Tuples
from skerry.model.time import MICROS

__all__ = ["LOG", "PAGES", "WINDOW_US", "keep_first_visits", "read_web_log"]

LOG = Path("web_nasa_http") / "aug01-05.log.gz"
PAGES = (
    "/ksc.html",
    "/shuttle/countdown/",
    "/shuttle/missions/missions.html",
    "/shuttle/missions/sts-69/mission-sts-69.html",
)
WINDOW_US = MICROS["DAY"]
_LINE = re.compile(r'(\S+) .*\[(\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] "\S+ (\S+)')


def read_web_log(path: Path, window_us: int = WINDOW_US) -> Tuples:
    """The requests for the pages, in order of time; lines that cannot be read are passed over."""
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as lines:
        found = list(_read_requests(lines))
    hosts: dict[str, int] = {}
    keys = np.array([hosts.setdefault(host, len(hosts)) for _, host, _ in found], np.int64)
    streams = np.array([page for page, _, _ in found], np.int32)
    starts = np.array([start for _, _, start in found], np.int64)
    order = np.argsort(starts, kind="stable")
    starts = starts[order]
    return Tuples(streams[order], keys[order], starts, starts + window_us, np.arange(starts.size))


def keep_first_visits(requests: Tuples) -> Tuples:
    """Without the requests of a host for a page that it asked for earlier, and that is still in the window."""
    ends: dict[tuple[int, int], int] = {}
    first = []
    for row, (stream, key, start) in enumerate(zip(*(column.tolist() for column in requests[:3]), strict=True)):
        if ends.get((stream, key), start) <= start:
            first.append(row)
            ends[stream, key] = int(requests.ends[row]) + 1
    return select(requests, np.array(first, np.intp))


def _read_requests(lines: Iterator[str]) -> Iterator[tuple[int, str, int]]:
    """Page, host and moment of each request for one of the pages.

    >>> list(_read_requests(iter(['a.com - - [01/Aug/1995:00:00:07 -0400] "GET /ksc.html HTTP/1.0" 200 7', "garbled"])))
    [(0, 'a.com', 807249607000000)]
    """
    for line in lines:
        read = _LINE.match(line)
        if read and read[3] in PAGES and (moment := _parse_moment(read[2])) is not None:
            yield PAGES.index(read[3]), read[1], moment


def _parse_moment(text: str) -> int | None:
    try:
        return int(datetime.strptime(text, "%d/%b/%Y:%H:%M:%S %z").timestamp()) * MICROS["SECOND"]
    except ValueError:
        return None
