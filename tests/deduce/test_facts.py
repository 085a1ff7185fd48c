"""Facts in files: what is read, in which ticks, and the errors of a file that cannot be read."""

import pytest

from skerry.deduce.change import Change, Tick
from skerry.deduce.checks import check
from skerry.deduce.facts import Outputs, read_facts
from skerry.errors import InputError, RuleError, SourceError
from skerry.lang.rules import read
from skerry.model.term import Compound

PROGRAM = "base p(a: int, b: string). q(a) :- p(a, _)."
TYPES = """base p(i: int, f: float, s: string, b: bool, t: time, l: point, n: node, x: list).
q(i) :- p(i, f, s, b, t, l, n, x)."""


def write_and_read(folder, program=PROGRAM, **files):
    """The facts of files that are written first; a name's last underscore stands for a dot."""
    for name, text in files.items():
        folder.joinpath(".".join(name.rsplit("_", 1))).write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_facts(folder, check(read(program)))


def test_csv_has_columns_in_any_order(tmp_path):
    [tick] = write_and_read(tmp_path, p_csv='b,a\n"x, y",1\nz,2\n').ticks
    assert tick == Tick(None, {"p": [(1, "x, y"), (2, "z")]}, {})


def test_facts_have_tabs_and_no_header(tmp_path):
    [tick] = write_and_read(tmp_path, p_facts='1\tx\n2\t"y\n').ticks
    assert tick.inserts == {"p": [(1, "x"), (2, '"y')]}


@pytest.mark.parametrize("text", ["a,b\n", "a,b", "\ufeffa,b\r\n"])
def test_file_without_rows_has_no_facts(tmp_path, text):
    assert write_and_read(tmp_path, p_csv=text).ticks == [Tick(None, {}, {})]


def test_types_are_as_declared(tmp_path):
    first = '-1,2,3,true,4,"[1, 2]",7,"[1, [""a"", 2.5], {""f"": [true]}]"'
    text = f'i,f,s,b,t,l,n,x\n{first}\n+1,1e3, ,FALSE,5,"[0.5,-1]",x7,[]\n'
    [tick] = write_and_read(tmp_path, TYPES, p_csv=text).ticks
    assert tick.inserts["p"] == [
        (-1, 2.0, "3", True, 4, (1.0, 2.0), 7, (1, ("a", 2.5), Compound("f", (True,)))),
        (1, 1000.0, " ", False, 5, (0.5, -1.0), "x7", ()),
    ]


def test_cells_of_an_undeclared_predicate_are_numbers_or_text(tmp_path):
    [tick] = write_and_read(tmp_path, "q(x) :- p(x).", p_csv="whatever\n1\n2.5\nx\n").ticks
    assert tick.inserts == {"p": [(1,), (2.5,), ("x",)]}


def test_rows_with_times_are_ticks_in_order_over_all_files(tmp_path):
    program = "base p(a: int). base r(a: int). base s(a: int). q(a) :- p(a), r(a), s(a)."
    files = {"p_csv": "_ts,a\n2,1\n1,2\n", "r_csv": "_op,a,_ts\n+,5,2\n-,5,3\n", "s_csv": "a\n9\n"}
    facts = write_and_read(tmp_path, program, **files)
    assert facts.unit == 1
    assert facts.ticks == [
        Tick(1, {"p": [(2,)], "s": [(9,)]}, {}),
        Tick(2, {"p": [(1,)], "r": [(5,)]}, {}),
        Tick(3, {}, {"r": [(5,)]}),
    ]


def test_last_word_on_a_fact_within_a_tick_wins(tmp_path):
    [tick] = write_and_read(tmp_path, p_csv="_ts,_op,a,b\n1,+,1,x\n1,-,1,x\n1,-,2,y\n1,+,2,y\n").ticks
    assert tick == Tick(1, {"p": [(2, "y")]}, {"p": [(1, "x")]})


def test_timestamps_are_microseconds(tmp_path):
    program = "base p(t: time). q(t) :- p(t)."
    facts = write_and_read(tmp_path, program, p_csv="t,_ts\n1970-01-01 00:00:01,1970-01-01T00:00:02.5Z\n")
    assert (facts.unit, facts.ticks) == (1_000_000, [Tick(2_500_000, {"p": [(1_000_000,)]}, {})])


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"p_csv": "a,b\n1,x\n\nx,y\n"}, r"p\.csv', line 4, column 'a': expected a whole number of 64 bits, got 'x'"),
        ({"p_csv": "a,b\n99999999999999999999,y\n"}, r"line 2, column 'a': expected a whole number"),
        ({"p_facts": "1\tx\n1.5\ty\n"}, r"p\.facts', line 2, column 'a': expected a whole number"),
        ({"p_csv": "a,b\n1\n"}, r"line 2: expected 2 cells, got 1"),
        ({"p_csv": "a,b\n1,2,3\n"}, r"line 2: expected 2 cells, got 3"),
        ({"p_csv": "a,c\n1,2\n"}, r"has the columns a, c; expected a, b"),
        ({"p_csv": "a,b,b\n1,2,3\n"}, r"has the columns a, b, b; expected a, b"),
        ({"p_csv": ""}, r"has no header; expected a, b"),
        ({"p_csv": "a,b,_op\n1,x,*\n"}, r"line 2, column '_op': expected \+ or -, got '\*'"),
        ({"p_csv": "a,b,_ts\n1,x,soon\n"}, r"line 2, column '_ts': expected a time as a whole number, got 'soon'"),
        ({"p_csv": "a,b,_ts\n1,x,2026-01-01\n2,x,3\n"}, r"line 3, column '_ts': expected a time as in 2026-01-31T12"),
        ({"p_csv": b"a,b\n1,\xff\n"}, r"cannot read '.*p\.csv'"),
        ({"p_csv": "a,b\n", "p_facts": ""}, r"the facts of 'p' stand twice"),
        ({"r_csv": "a\n", "s_facts": ""}, r"no facts of 'p': neither p\.csv nor p\.facts .*; it has r\.csv, s\.facts"),
    ],
)
def test_wrong_file_is_reported(tmp_path, files, message):
    with pytest.raises(InputError, match=message):
        write_and_read(tmp_path, **files)


@pytest.mark.parametrize(
    ("column", "field", "message"),
    [
        ("x: list", "[" * 100_000, "expected a list"),
        ("x: list", "{}", "expected a list"),
        ("x: list", "[null]", "expected a list"),
        ("x: point", '"[1, 2, 3]"', "expected a point"),
        ("x: bool", "maybe", "expected true or false"),
        ("x: float", "nan", "expected a number"),
        ("x: float", "1_000", "expected a number"),
    ],
)
def test_wrong_field_is_reported(tmp_path, column, field, message):
    with pytest.raises(InputError, match=f"line 2, column 'x': {message}"):
        write_and_read(tmp_path, f"base p({column}). q(x) :- p(x).", p_csv=f"x\n{field}\n")


def test_times_of_two_kinds_are_refused(tmp_path):
    program = "base p(t: time). base r(t: time). q(t) :- p(t), r(t)."
    with pytest.raises(InputError, match=r"times are numbers in '.*r\.csv' and timestamps in '.*p\.csv'"):
        write_and_read(tmp_path, program, p_csv="t\n2026-01-01\n", r_csv="t\n5\n")


@pytest.mark.parametrize("program", [PROGRAM, "q(1)."], ids=["facts are asked for", "none are"])
def test_missing_folder_is_reported(tmp_path, program):
    with pytest.raises(InputError, match="there is no folder"):
        read_facts(tmp_path / "nowhere", check(read(program)))


CHANGES = [
    (1, {"q": Change([(2, "b"), (10, "a")])}),
    (2, {"q": Change()}),
    (3, {"q": Change([(1, "c")], [(10, "a")])}),
]


@pytest.mark.parametrize(
    ("mode", "lines"),
    [
        ("final", ["x,y", "1,c", "2,b"]),
        ("inserts", ["_ts,x,y", "1,2,b", "1,10,a", "3,1,c"]),
        ("changes", ["_ts,_op,x,y", "1,+,2,b", "1,+,10,a", "3,+,1,c", "3,-,10,a"]),
        ("snapshot", ["_ts,x,y", "1,2,b", "1,10,a", "3,1,c", "3,2,b"]),
    ],
)
def test_output_is_written_as_its_mode_has_it(tmp_path, mode, lines):
    checked = check(read(f"base p(a: int, b: string). output q mode {mode}. q(x, y) :- p(x, y)."))
    outputs = Outputs(checked, 1)
    for now, changes in CHANGES:
        outputs.add(now, changes)
    assert outputs.write(tmp_path / "new") == {"q": len(lines) - 1}
    assert (tmp_path / "new" / "q.csv").read_text().splitlines() == lines


def test_nested_values_are_written_as_json(tmp_path):
    checked = check(read("base p(a: list, t: time). functor f/1. q([x|f(1)], t) :- p(x, t)."))
    outputs = Outputs(checked, 1_000_000)
    outputs.add(None, {"q": Change([(("ä", True, Compound("f", (1,))), 1_500_000)])})
    outputs.write(tmp_path)
    assert (tmp_path / "q.csv").read_text() == 'c1,t\n"[""ä"", true, {""f"": [1]}]",1970-01-01 00:00:01.500000\n'


def test_output_is_called_by_where_it_goes(tmp_path):
    checked = check(read('base p(a: int). output q to "alpha". q(a) :- p(a).'))
    outputs = Outputs(checked, 1)
    outputs.add(7, {"q": Change([(1,)])})
    assert outputs.write(tmp_path) == {"alpha": 1}
    assert (tmp_path / "alpha.csv").read_text() == "a\n1\n"


@pytest.mark.parametrize(
    ("name", "text", "facts"),
    [
        ("rain.csv", "\n\n", [()]),
        ("rain.csv", "\n()\n", [()]),
        ("rain.csv", "()\n", [()]),
        ("rain.csv", "\n", []),
        ("rain.csv", "", []),
        ("rain.facts", "\n", [()]),
        ("rain.facts", "()\n", [()]),
        ("rain.facts", "", []),
    ],
)
def test_facts_without_columns_are_read(tmp_path, name, text, facts):
    (tmp_path / name).write_text(text)
    for program in ("base rain(). wet(1) :- rain.", "wet(1) :- rain."):
        [tick] = read_facts(tmp_path, check(read(program))).ticks
        assert list(tick.inserts.get("rain", [])) == facts


def test_facts_without_columns_come_and_go(tmp_path):
    (tmp_path / "rain.csv").write_text("_ts,_op\n1,+\n2,-\n")
    ticks = read_facts(tmp_path, check(read("base rain(). wet(1) :- rain."))).ticks
    assert [(tick.inserts, tick.deletes) for tick in ticks] == [({"rain": [()]}, {}), ({}, {"rain": [()]})]


def test_fact_of_a_predicate_without_columns_is_nothing_else(tmp_path):
    (tmp_path / "rain.facts").write_text("yes\n")
    with pytest.raises(SourceError, match=r"line 1: a predicate without columns has the fact \(\), got 'yes'"):
        read_facts(tmp_path, check(read("wet(1) :- rain.")))


def test_answer_without_columns_can_be_read_again(tmp_path):
    checked = check(read("base p(a: int). q :- p(_). r :- NOT q."))
    outputs = Outputs(checked, 1)
    outputs.add(None, {"q": Change([()])})
    assert outputs.write(tmp_path) == {"q": 1, "r": 0}
    assert (tmp_path / "q.csv").read_text() == "\n()\n"
    [tick] = read_facts(tmp_path, check(read("s(1) :- q, NOT r."))).ticks
    assert dict(tick.inserts) == {"q": [()]}


def test_second_output_of_a_predicate_is_called_by_where_it_goes(tmp_path):
    checked = check(read('base p(a: int). output q. output q mode changes to "../told". q(a) :- p(a).'))
    outputs = Outputs(checked, 1)
    outputs.add(7, {"q": Change([(1,)])})
    outputs.write(tmp_path)
    texts = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert texts == {"q.csv": "a\n1\n", "___told.csv": "_ts,_op,a\n7,+,1\n"}


def test_predicate_of_which_nothing_is_known_is_refused_with_what_was_meant(tmp_path):
    (tmp_path / "link.csv").write_text("x\n1\n")
    with pytest.raises(RuleError, match=r"E003 line 1, column 9, rule 1: noth.* of 'lnik'.*did you mean 'link'\?"):
        read_facts(tmp_path, check(read("p(x) :- lnik(x).")))
