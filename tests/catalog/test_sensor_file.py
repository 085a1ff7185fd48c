from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.catalog import Sensor
from skerry.catalog.sensor_file import check_entries, read_entries, write_sensors
from skerry.catalog.similar_sensors import RELATIONS
from skerry.errors import InputError
from skerry.model.time import Micros


def read(folder: Path, text: str, known=(), sources=None):
    (folder / "f.yaml").write_text(text)
    entries = read_entries(folder / "f.yaml")
    check_entries(entries, "f.yaml", sources or {}, lambda keys: [key for key in keys if key not in known])
    return [entry.sensor for entry in entries]


ONE = "sensors:\n- {name: a, source: road, kind: loop"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.yaml: line 1: there is no list 'sensors'"),
        ("[1, 2]", "f.yaml: line 1: expected a mapping such as 'sensors: [...]'"),
        ("sensor: []", "unknown key 'sensor'; a file has source and sensors; did you mean 'sensors'?"),
        ("sensors: {a: b}", "f.yaml: line 1: expected a list"),
        ("sensors: [loop]", "a sensor is a mapping such as"),
        ("sensors:\n- {source: road, kind: loop}", "f.yaml: line 2: a sensor needs 'name'; it has source, kind"),
        ("sensors:\n- {name: a, source: road}", "line 2: a sensor needs 'kind'"),
        ("sensors:\n- {name: a, kind: loop}", "line 2: a sensor needs 'source', its own or one before all sensors"),
        (f"{ONE}, colour: red}}", "unknown key 'colour' of a sensor; known are name, source, kind, lat, lon, tags"),
        (f"{ONE}, tag: [x]}}", "did you mean 'tags'?"),
        (f"{ONE},\n  lat: 91, lon: 1}}", "line 3: lat is a number from -90 to 90; got '91'"),
        (f"{ONE}, lat: .nan, lon: 1}}", "lat is a number from -90 to 90; got '.nan'"),
        (f"{ONE}, lat: nan, lon: 1}}", "lat is a number from -90 to 90; got 'nan'"),
        (f"{ONE}, lat: 1}}", "a location has both, lat and lon"),
        (f"{ONE}, tags: i80}}", "tags is a list of at most 1000 texts, such as [a, b]"),
        (f"{ONE}, tags: [[i80]]}}", "each of tags must be a text of 1 to 1000 printable characters"),
        (f"{ONE}, units: mph}}", "units are a mapping of columns"),
        (f"{ONE}, sample_period: 5}}", "sample_period is a span of time such as 250ms, 1s or 10min"),
        (f"{ONE}, sample_period: 0s}}", "sample_period is a span of time"),
        (f"{ONE}, relations: {{near: b}}}}", "unknown relation 'near'; known are upstream_of, pair_of, replaces"),
        (f"{ONE}, relations: {{pair_of: b}}}}", "sensor 'a': it is related to 'b', which source 'road' does not have"),
        (
            f"{ONE}}}\n- {{name: a, source: road, kind: x}}",
            "line 3: sensor 'a': source 'road' has a sensor of that name",
        ),
        (f"{ONE}, name: b}}", "'name' stands there twice"),
        ("source: a\nsource: b\nsensors: []", "line 2: 'source' stands there twice"),
        (f"{ONE}, relations: {{pair_of: a}}}}", "sensor 'a': it is related to itself"),
        ("sensors: [&x {name: a, source: b, kind: c}, *x]", "the alias *x is not read; write the value out"),
        ("sensors: [!!python/object:os.system {name: a}]", "the tag 'tag:yaml.org,2002:python/object:os.system'"),
        ("sensors: [" + "[" * 50 + "]" * 50 + "]", "values are nested deeper than 8"),
        ("sensors: [}", "f.yaml: line 1: is no YAML"),
        ("sensors: []\n---\nsensors: []", "a second document begins"),
        ('sensors:\n- {name: "a\\nb", source: b, kind: c}', "name must be a text of 1 to 1000 printable characters"),
        (f"{ONE}, columns: [speed], units: {{flow: x}}}}", "'flow' has a unit, but is not among its columns"),
    ],
)
def test_wrong_file_is_refused_with_its_line(tmp_path, text, message):
    with pytest.raises(InputError) as error:
        read(tmp_path, text)
    assert message in str(error.value)


def test_column_that_the_source_does_not_have_is_refused(tmp_path):
    with pytest.raises(InputError, match="source 'road' has no column 'sped'; it has ts, speed; did you mean 'speed'"):
        read(tmp_path, f"{ONE}, columns: [sped]}}", sources={"road": ["ts", "speed"]})


def test_relation_to_a_sensor_of_the_catalogue_is_taken(tmp_path):
    (found,) = read(tmp_path, f"{ONE}, relations: {{pair_of: b}}}}", known=[("road", "b")])
    assert found.relations == (("pair_of", "b"),)


def test_names_are_texts_as_they_are_written(tmp_path):
    text = "sensors: [{name: 007, source: no, kind: 1.50, tags: [on, 1e3]}]"
    assert read(tmp_path, text) == [Sensor("007", "no", "1.50", tags=("on", "1e3"))]


def test_file_that_is_not_there_or_no_text_is_refused(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        read_entries(tmp_path / "none.yaml")
    (tmp_path / "f.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="cannot read"):
        read_entries(tmp_path / "f.yaml")


texts = st.text(st.characters(exclude_categories=["C", "Z"]) | st.just(" "), min_size=1, max_size=8)
lists = st.lists(texts, max_size=3, unique=True).map(tuple)
degrees = st.floats(-90, 90)


@settings(max_examples=100, deadline=None)
@given(
    sensors=st.lists(
        st.builds(
            Sensor,
            *(texts, texts, texts, degrees, degrees, lists, lists),
            st.dictionaries(texts, texts, max_size=2),
            st.none() | st.integers(1, 10**12).map(Micros),
            lists,
            st.lists(st.tuples(st.sampled_from(RELATIONS), texts), max_size=3, unique=True).map(
                lambda found: tuple(sorted(found, key=lambda each: RELATIONS.index(each[0])))
            ),
        ),
        max_size=3,
    )
)
def test_what_is_written_is_read_back(tmp_path_factory, sensors):
    file = tmp_path_factory.getbasetemp() / "sensors.yaml"
    file.write_text(write_sensors(sensors), encoding="utf-8")
    assert [entry.sensor for entry in read_entries(file)] == sensors
