"""``skerry sim mqtt`` as its users meet it."""

import json
import re
import signal
import subprocess
import time

import pytest
from typer.testing import CliRunner

from skerry.cli import app
from skerry.errors import InputError
from skerry.testing.broker import Broker
from tests.brokers import needs_mosquitto
from tests.cli.commands import SKERRY, skerry

WRONG = {
    "unknown kind": (["--kind", "trafic"], "unknown kind of mote 'trafic'; known are air, .*did you mean 'traffic'"),
    "kinds that are none": (["--kinds", "air"], "kinds are written as traffic=1000,air=500; got 'air'"),
    "two ways to say how many": (["--kinds", "air=5", "--sensors", "5"], "leave --kind and --sensors out"),
    "too many": (["--sensors", "1000000"], "number of sensors of a fleet is from 1 to 100000; got 1e"),
    "no address": (["--url", "http://ann:secret@a"], r"'http://\.\.\.@a' is no address of an MQTT broker"),
    "nobody there": (["--url", "mqtt://127.0.0.1:9"], "there is no MQTT broker at mqtt://127.0.0.1:9: .*refused"),
    "a pattern as prefix": (["--prefix", "a/#"], "the prefix of a fleet must be levels between slashes"),
    "no share": (["--garble", "2"], "the garble of a fleet is from 0 to 1; got 2"),
    "unknown program": (["--program", "sing"], "motes of kind traffic have no program 'sing'; they have raw, vehicles"),
    "unknown encoding": (["--encoding", "xml"], "unknown encoding 'xml'; known are json, cbor"),
    "no rate": (["--rate", "0"], "the rate of a fleet is above 0; got 0"),
    "no time": (["--start-time", "noon"], "--start-time of skerry sim mqtt must be a time such as"),
    "no folder for the truth": (["--truth", "no/where"], "cannot write the truth to 'no/where': No such file"),
    "no certificate": (["--url", "mqtts://127.0.0.1:9", "--ca-file", "no.pem"], "cannot read the certificate 'no.pem'"),
}


@pytest.fixture
def broker():
    with Broker() as broker:
        yield broker


@pytest.mark.parametrize(("arguments", "message"), WRONG.values(), ids=WRONG)
def test_wrong_input_is_refused(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["sim", "mqtt", *arguments])
    assert isinstance(done.exception, InputError)
    assert re.search(message, str(done.exception)), done.exception
    assert done.stdout == ""


def test_an_error_is_one_line(tmp_path):
    done = skerry(tmp_path, "sim", "mqtt", "--url", "mqtt://127.0.0.1:9")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"error: there is no MQTT broker at mqtt://127.0.0.1:9: [^\n]+\n", done.stderr)


@needs_mosquitto
def test_a_fleet_runs_for_some_seconds_and_sums_up(tmp_path, broker):
    kinds = ["--kinds", "traffic=4,air=4", "--speed", "10", "--seconds", "1", "--truth", "truth.jsonl"]
    done = skerry(tmp_path, "sim", "mqtt", "--url", broker.url, "--prefix", "a/b", *kinds)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("8 motes for ")
    lines = [json.loads(line) for line in (tmp_path / "truth.jsonl").read_text().splitlines()]
    readings = sum(line["what"] == "reading" for line in lines)
    assert lines[-1]["readings"] == readings >= 8
    assert f"acknowledged: {readings} readings" in done.stdout


@needs_mosquitto
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_a_fleet_ends_cleanly_when_it_is_told(tmp_path, broker, ending):
    command = [*SKERRY, "sim", "mqtt", "--url", broker.url, "--sensors", "3", "--truth", str(tmp_path / "truth.jsonl")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while "skerry-motes" not in broker.log and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(ending)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert "3 motes for" in out
    assert '"what":"summary"' in (tmp_path / "truth.jsonl").read_text().splitlines()[-1]
