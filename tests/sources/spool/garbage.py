"""Payloads of every kind, sound and not, each with what must become of it."""

import json
import random
from dataclasses import dataclass

import cbor2

__all__ = ["Payload", "make_cbor", "make_csv", "make_json", "make_json_line", "make_state"]

GOOD, BAD, EITHER = "good", "bad", "either"
"""Answered; a dead letter; or one of both, for what it says is a matter of taste."""
SOON = "2026-01-01 00:00:01"


@dataclass(frozen=True)
class Payload:
    """Bytes, how many readings are in them, and what must become of each."""

    data: bytes
    verdict: str
    readings: int = 1


def _reading(random_, **more):
    return {"ts": SOON, "value": random_.choice([1, -2.5, 1e300, 0, None, "7", " 8.5"]), **more}


def _misfit(random_):
    """An object that is no reading of the source."""
    return random_.choice(
        [
            {"ts": "soon", "value": 1},
            {"ts": SOON, "value": "fast"},
            {"ts": SOON, "value": [1, [2, {"a": []}]]},
            {"ts": SOON, "value": {"value": 1}},
            {"ts": [], "value": 1},
            {"ts": "9999-12-31 00:00:00", "value": 1},
            {"value": 1},
            {},
            {"": {}, "TS": "never"},
        ]
    )


def _nest(random_, depth):
    found = 1
    for _ in range(depth):
        found = [found] if random_.random() < 0.5 else {"a": found}
    return found


def _cut(random_, data):
    return data[: random_.randrange(1, len(data))]


def _sound_json(random_):
    one = _reading(random_, more=random_.choice(["ä\u0000\\", _nest(random_, 20), -0.0, 10**40]))
    made = random_.choice(
        [
            lambda: (json.dumps(one), 1),
            lambda: (json.dumps(one, ensure_ascii=False, indent=3), 1),
            lambda: (json.dumps([one] * 3), 3),
            lambda: (json.dumps({"battery": 0.5, "readings": [one, one]}), 2),
            lambda: ('\n {"ts": "' + SOON + '", "value": 4, "x": 1, "x": 2, "value": "no"} ', 1),
        ]
    )
    text, count = made()
    return Payload(text.encode(), GOOD, count)


def _broken_json(random_):
    sound = json.dumps(_reading(random_)).encode()
    made = random_.choice(
        [
            lambda: _cut(random_, sound),
            lambda: b"",
            lambda: b"\0" * random_.randrange(1, 9),
            lambda: bytes([random_.randrange(128, 192)]) + random_.randbytes(random_.randrange(60)),
            lambda: b"[" * random_.randrange(1, 5_000),
            lambda: b'{"a":' * random_.randrange(1, 5_000),
            lambda: json.dumps(random_.choice([None, 1, "x", 1e308, True])).encode(),
            lambda: json.dumps(_misfit(random_)).encode(),
            lambda: sound + b"\n" + sound,
            lambda: sound.decode().encode("utf-16"),
            lambda: sound.replace(b"value", b"val\xffue"),
            lambda: cbor2.dumps(_reading(random_)),
            lambda: b'{"ts": "' + SOON.encode() + b'", "value": 0x10}',
            lambda: sound + b"}" * 99,
        ]
    )
    return Payload(made(), BAD)


def _odd_json(random_):
    number = random_.choice(["NaN", "1e999", "-Infinity", '"\\ud800"', "1" * 400, "-0e-400", '"1e5"', "true"])
    return Payload(f'{{"ts": "{SOON}", "value": {number}, "ts": 5}}'.encode(), EITHER)


def make_json(random_: random.Random) -> Payload:
    """A message in JSON."""
    if random_.random() < 0.1:
        count = random_.randrange(5)
        return Payload(json.dumps([_misfit(random_), 5, [], None][:count]).encode(), BAD, count)
    return random_.choice([_sound_json, _broken_json, _broken_json, _odd_json])(random_)


def make_cbor(random_: random.Random) -> Payload:
    """A message in CBOR."""
    one = _reading(random_, more=random_.choice([b"\xff", 10**40, _nest(random_, 20)]))
    kinds = [
        lambda: Payload(cbor2.dumps(one), GOOD),
        lambda: Payload(cbor2.dumps([one] * 3), GOOD, 3),
        lambda: Payload(cbor2.dumps({"readings": (one, one), 5: 6}), GOOD, 2),
        lambda: Payload(_cut(random_, cbor2.dumps(one)), BAD),
        lambda: Payload(cbor2.dumps(_misfit(random_)), BAD),
        lambda: Payload(cbor2.dumps(_nest(random_, 200)), BAD),
        lambda: Payload(cbor2.dumps(random_.choice([1, "x", 1.5, b"x", None])), BAD),
        lambda: Payload(json.dumps(_reading(random_)).encode(), BAD),
        lambda: Payload(b"\x5f" + random_.randbytes(9), BAD),
        lambda: Payload(b"", BAD),
        lambda: Payload(b"[]", BAD),
        lambda: Payload(b"\x9b\x7f" + b"\xff" * 7, BAD),
        lambda: Payload(
            cbor2.dumps({"ts": SOON, "value": random_.choice([float("nan"), float("inf"), 2**70])}), EITHER
        ),
    ]
    return random_.choice(kinds)()


def make_json_line(random_: random.Random, name: str) -> Payload:
    """A line of a file of JSON lines, with the name of its sensor where it is sound."""
    one = {"sensor": name, **_reading(random_)}
    kinds = [
        lambda: Payload(json.dumps(one).encode(), GOOD),
        lambda: Payload(_cut(random_, json.dumps(one).encode()), BAD),
        lambda: Payload(bytes([random_.randrange(128, 192)]) + _randbytes(random_), BAD),
        lambda: Payload(json.dumps([one]).encode(), BAD),
        lambda: Payload(json.dumps(_misfit(random_)).encode(), BAD),
        lambda: Payload(b'{"a":' * random_.randrange(1, 5_000), BAD),
        lambda: Payload(json.dumps({**one, "value": random_.choice([float("nan"), 10**400])}).encode(), EITHER),
    ]
    return random_.choice(kinds)()


def make_csv(random_: random.Random, name: str) -> Payload:
    """A line of CSV. Quotes are in pairs: one that is left open takes the lines behind it in, as it should."""
    kinds = [
        lambda: Payload(f"{name},{SOON},{random_.choice(['1', '-2.5', '', ' 8.5', '1e300'])}".encode(), GOOD),
        lambda: Payload(f'"{name}","{SOON}","{random_.random()}"'.encode(), GOOD),
        lambda: Payload(f"{name},{SOON}".encode(), BAD),
        lambda: Payload(f"{name},{SOON},1,2".encode(), BAD),
        lambda: Payload(f"{name},soon,1".encode(), BAD),
        lambda: Payload(f"{name},,1".encode(), BAD),
        lambda: Payload(f"{name},{SOON},fast".encode(), BAD),
        lambda: Payload(b"\xff" + _randbytes(random_), BAD),
        lambda: Payload(f"{name},{SOON},{random_.choice(['nan', 'inf', '1e999', '9' * 400])}".encode(), EITHER),
    ]
    return random_.choice(kinds)()


def _randbytes(random_):
    return random_.randbytes(random_.randrange(1, 60)).translate(None, b'\n\r"')


_FIELDS = ("control", "program", "sample_period_ms", "columns", "ranges", "asleep", "battery", "listens_ms", "kind")
_FIELDS += ("latitude", "longitude", "programs", "units")


def make_state(random_: random.Random) -> bytes:
    """What a sensor may say of itself, in JSON or CBOR: some of it sound, most of it not."""
    encode = random_.choice([cbor2.dumps, lambda said: json.dumps(said).encode()])
    said = {name: _anything(random_) for name in random_.sample(_FIELDS, random_.randrange(1, 6))}
    kinds = [
        lambda: encode({"control": random_.randrange(9), "listens_ms": 50, "battery": random_.random()}),
        lambda: encode(said),
        lambda: _cut(random_, encode(said)),
        lambda: random_.randbytes(random_.randrange(40)),
        lambda: encode(_anything(random_)),
        lambda: b"[" * random_.randrange(5_000),
    ]
    return random_.choice(kinds)()


def _anything(random_: random.Random) -> object:
    kinds = [None, True, -1, 7, 1.5, 2**70, 10**400, 1e308, float("nan"), float("inf"), "", "raw", "\0", "x" * 999]
    kinds += [[], ["raw", "raw"], [[None, 3]], {}, {"speed": [[1, 2]]}, {"speed": "mph"}, {"a": {"a": []}}]
    return random_.choice(kinds)
