import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.catalog import Catalog, Source, Subscription, SubscriptionChange
from skerry.errors import CheckpointError
from skerry.model.expression import Expression
from skerry.model.types import TIMESTAMP
from skerry.operators.derive import Derive
from skerry.subscriptions import versions
from skerry.subscriptions.counters import COUNTS
from skerry.subscriptions.registry import Registry, answer_schema
from skerry.subscriptions.versions import Registrar, RegistryFolder, registry_at
from skerry.testing.laws import rows_of

SCHEMA = pa.schema({"speed": pa.float64(), "ts": TIMESTAMP, "lane": pa.int32(), "sensor": pa.string()})
ROAD, SEA = Source("road", SCHEMA, "file", event_time="ts"), Source("sea", SCHEMA, "file", event_time="ts")
PREDICATES = ["speed < 3", "lane = 1", "speed > lane", "sensor = 'a' OR lane >= 2", "lane * 2 > 3", "lane IS NULL"]

readings = st.lists(
    st.tuples(
        st.none() | st.sampled_from([0.0, 2.5, float("nan")]),
        st.just(0),
        st.none() | st.integers(0, 3),
        st.none() | st.sampled_from("ab"),
    ),
    max_size=12,
)
changes = st.lists(st.tuples(st.integers(0, 5), st.none() | st.sampled_from(PREDICATES)), max_size=12)


def batch_of(rows):
    columns = zip(*rows, strict=True) if rows else [[]] * len(SCHEMA)
    return pa.record_batch([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)


def follow(drawn):
    """Drawn changes as a catalogue would log them, and what is there in the end."""
    there, log = {}, []
    for number, predicate in drawn:
        name = f"q{number}"
        if name in there:
            log.append(SubscriptionChange(len(log) + 1, there.pop(name), removed=True))
        if predicate:
            there[name] = Subscription(name, "road", predicate)
            log.append(SubscriptionChange(len(log) + 1, there[name]))
    return log, there


def pairs(registry, batch):
    found = registry.matches("road", batch).get("subscriptions")
    return sorted(found.column("id").to_pylist()) if found else []


def expected_pairs(there, batch):
    connection = duckdb.connect()
    connection.register("batch", pa.Table.from_batches([batch]))
    counts = {
        name: connection.sql(f"SELECT count(*) FROM batch WHERE {each.predicate}").fetchall()[0][0]
        for name, each in there.items()
    }
    return sorted(name for name, count in counts.items() for _ in range(count))


@settings(max_examples=40)
@given(drawn=changes, rows=readings)
def test_matches_are_those_of_the_predicates_that_are_there(drawn, rows):
    log, there = follow(drawn)
    registry = Registry([ROAD])
    registry.change(log)
    assert len(registry) == len(there)
    assert pairs(registry, batch_of(rows)) == expected_pairs(there, batch_of(rows))


@settings(max_examples=20)
@given(drawn=changes, rows=readings, cut=st.integers(0, 12))
def test_registry_that_was_saved_goes_on_as_it_was(drawn, rows, cut):
    log, _ = follow(drawn)
    one, other = Registry([ROAD, SEA]), Registry([ROAD, SEA])
    one.change(log)
    other.change(log[:cut])
    other = Registry.restore(other.save(), [ROAD, SEA])
    other.change(log[cut:])
    assert other.version == one.version
    mine, its = (registry.matches("road", batch_of(rows)).get("subscriptions/road") for registry in (one, other))
    assert (mine and rows_of(mine)) == (its and rows_of(its))


def test_many_predicates_as_people_write_them_are_answered_as_by_duckdb():
    forms = [
        *("lane = {n} AND speed * 3.6 > {n}.5", "speed + lane > {n}", "upper(sensor) = 'A{n}'", "lane * {n} - 1 > 2.5"),
        *("sensor IN ('a{n}', 'b', 'c', 'a1') AND LANE >= {n}", "sensor LIKE '%ab{n}%'", "road.speed > -{n}"),
        *("lane NOT IN ({n}, 1) OR speed IS NULL", "abs(speed - lane) > {n}", "NOT (speed >= {n} OR lane % 2 = 1)"),
        *("lane + 2147483647 > {n}", "CAST(sensor AS INT) = {n} OR lane = {n}", "sensor LIKE 'a{n}%' AND speed < 2"),
        "sensor IN (" + ", ".join(f"'a{{n}}{other}'" for other in range(100)) + ")",
    ]
    texts = [form.format(n=number) for number in range(12) for form in forms]
    there = {f"q{number}": Subscription(f"q{number}", "road", text) for number, text in enumerate(texts)}
    registry = Registry([ROAD])
    registry.change([SubscriptionChange(1, each) for each in there.values()])
    sensors = [None, "a1", "A2", "b", "xab3", "a12", "7", "ab11"]
    batch = batch_of(
        [(speed, 0, lane, sensor) for speed in (None, 1.0, 7.5) for lane in (None, 1, 4) for sensor in sensors]
    )
    found = registry.matches("road", batch)["subscriptions"]
    assert sorted(found.column("id").to_pylist()) == expected_of(there, batch)
    for name in list(there)[::2]:
        registry.change([SubscriptionChange(2, there.pop(name), removed=True)])
    again = Registry.restore(registry.save(), [ROAD])
    assert pairs(again, batch) == pairs(registry, batch) == expected_of(there, batch)


def expected_of(there, batch):
    """By DuckDB, each predicate alone, and false where it fails."""
    numbered = batch.append_column("row", pa.array(range(batch.num_rows)))
    bound = {name: each.predicate.replace("road.", "") for name, each in there.items()}
    found = {
        name: Derive([("row", Expression.of("row", pa.int64()))], Expression(text, pa.bool_())).transition(numbered)
        for name, text in bound.items()
    }
    return sorted(name for name, rows in found.items() for _ in range(rows.num_rows))


def test_answer_is_the_id_the_sensor_the_time_and_the_rest():
    assert answer_schema(ROAD).names == ["id", "sensor", "ts", "speed", "lane"]
    plain = Source("plain", pa.schema({"id": pa.int32(), "speed": pa.float64()}), "file")
    assert answer_schema(plain).names == ["id", "speed"]


def test_answers_go_where_subscribers_want_them():
    registry = Registry([ROAD, SEA])
    added = [Subscription("a", "road", "lane = 1"), Subscription("b", "road", "lane = 1", "mine")]
    registry.change(
        [SubscriptionChange(place, each) for place, each in enumerate([*added, Subscription("c", "sea", "TRUE")])]
    )
    found = registry.matches("road", batch_of([(1.0, 0, 1, "a")]))
    assert {output: rows.column("id").to_pylist() for output, rows in found.items()} == {
        "subscriptions/road": ["a"],
        "mine": ["b"],
        COUNTS: ["a", "b"],
    }


def test_subscription_that_cannot_be_read_any_more_harms_no_other():
    registry = Registry([ROAD])
    added = [
        Subscription("a", "road", "gone = 1"),
        Subscription("b", "road", "lane = 1"),
        Subscription("c", "no", "TRUE"),
    ]
    registry.change([SubscriptionChange(place, each) for place, each in enumerate(added)])
    assert pairs(registry, batch_of([(1.0, 0, 1, "a")])) == ["b"]


@pytest.fixture
def project(tmp_path):
    catalog = Catalog.of_project(tmp_path)
    yield catalog
    catalog.close()


def subscribe(catalog, *names):
    with catalog.all_or_nothing():
        catalog.subscriptions.add([Subscription(name, "road", "lane = 1") for name in names])


def test_steps_see_what_others_write_and_see_it_again(project, tmp_path):
    subscribe(project, "a")
    folder = RegistryFolder(tmp_path / "registry", (ROAD,), project.url)
    folder.begin(project.subscriptions.all(), project.subscriptions.version)
    registrar = Registrar(folder)
    first = registrar.next_version(0)
    subscribe(project, "b")
    second = registrar.next_version(first)
    with project.all_or_nothing():
        project.subscriptions.remove(["a"])
    third = Registrar(folder).next_version(second)
    batch = batch_of([(1.0, 0, 1, "a")])
    for _ in range(2):
        found = [pairs(registry_at(folder, version), batch) for version in (first, second, third)]
        assert found == [["a"], ["a", "b"], ["b"]]
    assert registrar.next_version(third) == third


def test_many_changes_are_taken_up_a_few_a_step(project, tmp_path, monkeypatch):
    monkeypatch.setattr(versions, "_MOST_CHANGES", 2)
    monkeypatch.setattr(versions, "_CHANGES_A_BASE", 3)
    folder = RegistryFolder(tmp_path / "registry", (ROAD,), project.url)
    folder.begin([], 0)
    subscribe(project, *"abcdefg")
    registrar, version, seen = Registrar(folder), 0, []
    while (following := registrar.next_version(version)) != version:
        version = following
        seen.append(len(folder.at(version)))
    assert seen == [2, 4, 6, 7]
    assert len(list(folder.path.glob("*.base"))) == 2


def test_run_that_goes_on_keeps_its_first_version(tmp_path):
    folder = RegistryFolder(tmp_path, (ROAD,))
    folder.begin([Subscription("a", "road", "lane = 1")], 1)
    folder.begin([Subscription("b", "road", "lane = 1"), Subscription("c", "road", "lane = 1")], 2)
    assert Registrar(folder).next_version(0) == 1
    assert len(folder.at(1)) == 1


def followed(project, path, names) -> tuple[RegistryFolder, list[int]]:
    """A folder with a version for each subscription that came, and the versions."""
    folder = RegistryFolder(path, (ROAD,), project.url, run="run-7")
    folder.begin([], 0)
    registrar, seen = Registrar(folder), [0]
    for name in names:
        subscribe(project, name)
        seen.append(registrar.next_version(seen[-1]))
    return folder, seen


def test_version_whose_changes_are_lost_in_between_is_refused(project, tmp_path):
    folder, seen = followed(project, tmp_path / "registry", "abc")
    (folder.path / f"{seen[2]:012}.changes").unlink()
    assert len(folder.at(seen[1])) == 1
    with pytest.raises(CheckpointError, match=f"{seen[2]}.changes' is missing"):
        folder.at(seen[3])


def test_version_that_was_planned_and_never_seen_does_no_harm(project, tmp_path):
    """A run broke off after it had written a version, before its step was logged; the step is planned anew."""
    folder, seen = followed(project, tmp_path / "registry", "ab")
    subscribe(project, "c")
    again = Registrar(folder).next_version(seen[1])
    assert [len(folder.at(version)) for version in (seen[1], again)] == [1, 3]


def test_run_that_goes_on_without_a_first_version_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match="has no first version of the subscriptions"):
        RegistryFolder(tmp_path / "registry", (ROAD,)).begin([], 3, resumed=True)


def test_changed_version_is_refused(project, tmp_path):
    folder, seen = followed(project, tmp_path / "registry", "a")
    for path in folder.path.glob("*.*"):
        path.write_bytes(path.read_bytes().replace(b"lane = 1", b"lane = 2"))
    with pytest.raises(CheckpointError, match="its checksum does not match"):
        folder.at(seen[1])


def test_versions_of_another_run_in_the_same_folder_are_not_taken_for_those_of_the_first(tmp_path):
    for run, names in (("one", "a"), ("other", "bc")):
        for path in tmp_path.glob("*.base"):
            path.unlink()
        folder = RegistryFolder(tmp_path, (ROAD,), run=run)
        folder.begin([Subscription(name, "road", "lane = 1") for name in names], 1)
        assert len(registry_at(folder, 1)) == len(names)
