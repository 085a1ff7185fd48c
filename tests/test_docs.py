"""What the pages show works: statements bind, programs run, command lines parse, links lead somewhere.

Answers of examples are checked page by page: test_readme, test_tutorial, test_rules_page.
"""

import ast
import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from typer.main import get_command

from skerry.build.cut import cut_view
from skerry.catalog.sensor_file import read_entries
from skerry.cli import app
from skerry.database import Database, Settings, connect
from skerry.lang.sql.view_options import VIEW_OPTIONS
from skerry.plan.sharing import share
from skerry.sinks.memory import MemorySink

ROOT = Path(__file__).parents[1]
PAGES = {page.name: page.read_text() for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]}

DELAY = "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
STREAMS = {
    "joins.md": (
        *(f"gate_{name} (plate VARCHAR)" for name in "abc"),
        *("traffic (segment INT, speed INT)", "incidents (description VARCHAR, segment INT)"),
        *("gate (plate VARCHAR, lane INT)", "tolls (plate VARCHAR, paid INT)", "TABLE open_lanes (lane INT)"),
        *("orders (id INT)", "shipments (id INT)", "flows (sensor INT, flow INT)", "valves (sensor INT, position INT)"),
        *("temps (room INT, floor INT, temp INT)", "doors (room INT, open BOOLEAN)", "alarms (floor INT, level INT)"),
        *("road (sensor INT, speed INT)", "readings (gas INT, sensor VARCHAR)"),
    ),
    "sensors.md": ("traffic (sensor VARCHAR, speed DOUBLE)",),
    "sharing.md": ("traffic (segment INT, speed DOUBLE, flow INT)",),
    "shedding.md": tuple(f"gate_{name} (plate INT)" for name in "abcd"),
    "subscriptions.md": ("traffic (segment INT, speed DOUBLE, flow INT)",),
}
"""Streams that examples read and a page does not declare. All have an event time ``ts``."""

FOREIGN_OPTIONS = {
    "benchmarks.md": {"--files", "--max-lag", "--only", "--files-a-batch", "--count", "--mix", "--repeats"},
    "deploy.md": {"--conf", "--host", "--init", "--no-deps", "--port", "--stop-timeout", "--target"},
}
"""Options of other programs, by the page that shows them."""


def list_blocks(text: str, kind: str) -> list[tuple[str, str]]:
    """The blocks of a kind, each with the name that stands behind it."""
    return re.findall(rf"^```{kind}(?: (\S+))?\n(.*?)^```", text, re.M | re.S)


def list_scripts(text: str) -> list[str]:
    """The SQL of a page: a block with a name is a script, all others together are one."""
    blocks = list_blocks(text, "sql")
    return [text for name, text in blocks if name] + ["".join(text for name, text in blocks if not name)]


def declare(stream: str) -> str:
    """The statement that makes a stream, or a table, as they are written in ``STREAMS``."""
    kind, time = "SOURCE", f", ts TIMESTAMP, {DELAY}"
    if stream.startswith("TABLE "):
        kind, stream, time = "TABLE", stream.removeprefix("TABLE "), ""
    return f"CREATE {kind} {stream[:-1]}{time}) WITH (connector='file', path='given.csv');"


def open_catalogue(page: str, folder: Path) -> Database:
    """A catalogue with the streams and the sensors that a page takes for granted, beside its rule programs."""
    database = connect()
    database.execute("".join(map(declare, STREAMS.get(page, ()))))
    for name, program in re.findall(r"`(\w+\.dl)`:\n\n```dl\n(.*?)```", PAGES[page], re.S):
        (folder / name).write_text(program)
    for _, sensors in list_blocks(PAGES[page], "yaml"):
        (folder / "sensors.yaml").write_text(sensors)
        database.catalog.sensor_entries.enter(entry.sensor for entry in read_entries(folder / "sensors.yaml"))
    return database


@pytest.mark.parametrize("page", [page for page, text in PAGES.items() if "```sql" in text])
def test_statements_of_a_page_can_be_bound(page, tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for script in list_scripts(PAGES[page]):
        database = open_catalogue(page, tmp_path)
        database.execute(script)
        for plan in share(database.plans()):
            cut_view(plan)


@pytest.mark.parametrize("page", ["demand.md", "network.md", "power.md", "python.md", "sources-sim.md"])
def test_programs_of_a_page_run(page, tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    names: dict[str, object] = {}
    for _, program in list_blocks(PAGES[page], "python"):
        exec(program, names)


@pytest.mark.parametrize("page", [page for page, text in PAGES.items() if "```python" in text])
def test_programs_import_what_there_is(page):
    for _, program in list_blocks(PAGES[page], "python"):
        for node in ast.walk(ast.parse(program)):
            if isinstance(node, ast.ImportFrom):
                assert [name.name for name in node.names if not hasattr(import_module(node.module), name.name)] == []


def test_names_of_skerry_in_the_pages_exist():
    dotted = {found for text in PAGES.values() for found in re.findall(r"`(skerry(?:\.\w+)+)", text)}
    assert len(dotted) > 10
    assert [name for name in sorted(dotted) if not exists(name)] == []


def exists(name: str) -> bool:
    """Whether a module has this name, or something in one; ``skerry.db`` and the like are files."""
    if name.rpartition(".")[2] in ("db", "toml"):
        return True
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def list_commands(text: str) -> list[str]:
    """The command lines of a page, in blocks and in the text, without what is said about them."""
    blocks = re.findall(r"^```(?!sql|python|dl|csv|yaml)\w*[^\n]*\n(.*?)^```", text, re.M | re.S)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    shown = [found[1] for line in lines if (found := re.match(r"(?:\$ |ExecStart=)?(?:\S*/)?skerry( [a-z].*)", line))]
    prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    said = [" ".join(found.split()) for found in re.findall(r"`(?:\S*/)?skerry(\s[a-z][^`]*)`", prose)]
    return [re.split(r"\s{2,}|\s#", command.strip())[0] for command in shown + said]


def parse(command: str) -> None:
    """Let the command line read a command; nothing is run. ``[...]`` may be left out, of ``a|b`` one is meant."""
    words = shlex.split(re.sub(r"\|\w+", "", re.sub(r"[\[\]]", " ", command)).replace(" N", " 1"))
    context, command_ = None, get_command(app)
    while hasattr(command_, "get_command"):
        context = command_.make_context(command_.name, [*words[:1], "--"], parent=context)
        name, command_ = words[0], command_.get_command(context, words[0])
        assert command_ is not None, name
        words = words[1:]
        if not words:
            return
    command_.make_context(name, words, parent=context)


@pytest.mark.parametrize("page", [page for page, text in PAGES.items() if list_commands(text)])
def test_command_lines_can_be_read(page):
    for command in list_commands(PAGES[page]):
        parse(command)


def test_command_line_with_an_unknown_option_cannot_be_read():
    with pytest.raises(Exception, match="--speling"):
        parse("run SCRIPT.sql --speling right")


def list_options(command, context=None) -> set[str]:
    """The options of a command, and of those below it."""
    context = command.make_context(command.name, ["--"], parent=context, resilient_parsing=True)
    own = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    below = command.list_commands(context) if hasattr(command, "list_commands") else []
    return own.union(*(list_options(command.get_command(context, name), context) for name in below))


def test_options_in_the_pages_exist():
    known = list_options(get_command(app)) | {"--help"}
    for page, text in PAGES.items():
        shown = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))
        assert (page, shown - known - FOREIGN_OPTIONS.get(page, set())) == (page, set())


def test_options_of_views_are_listed():
    listed = PAGES["sql.md"].partition("## Options of a view")[2]
    assert [option.name for option in VIEW_OPTIONS if f"`{option.name}`" not in listed] == []


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def test_links_lead_to_sections_that_are_there():
    anchors = {page: {slug(title) for title in re.findall(r"^#+ (.*)", text, re.M)} for page, text in PAGES.items()}
    links = [(page, link) for page, text in PAGES.items() for link in re.findall(r"\]\(([\w./-]*#[^)]+)\)", text)]
    assert len(links) > 10
    wrong = [link for page, link in links if not leads_somewhere(page, link, anchors)]
    assert wrong == []


def leads_somewhere(page: str, link: str, anchors: dict[str, set[str]]) -> bool:
    target, _, anchor = link.partition("#")
    return anchor in anchors.get(Path(target).name or page, set())


def test_every_page_is_linked_from_the_readme():
    assert [page for page in PAGES if page != "README.md" and f"(docs/{page}" not in PAGES["README.md"]] == []


def test_summary_of_the_papers_counts_the_claims_below_it():
    verdicts = ("**holds**", "**in direction only**", "**does not hold**")
    counted = {
        name: [sum(verdict in row for row in section.splitlines() if row[:1] == "|") for verdict in verdicts]
        for name, section in re.findall(r"^## `(\w+)`(.*?)(?=^## |\Z)", PAGES["reproduce.md"], re.M | re.S)
    }
    told = re.findall(r"\| (\d+) \| (\d+) \| (\d+) \| `skerry reproduce (\w+)`", PAGES["reproduce.md"])
    assert {name: list(map(int, counts)) for *counts, name in told} == counted


def test_every_benchmark_is_in_the_summary():
    summary, _, details = PAGES["benchmarks.md"].partition("## Summary")[2].partition("\n## ")
    sections = re.findall(r"^## (.*)", "## " + details, re.M)
    assert [title for title in sections if f"](#{slug(title)})" not in summary] == []


def test_table_of_watermarks_in_concepts_is_true(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    rows = re.findall(r"^\| \d \| ([\d:]+) \| [\d:]+ \| [\d:]+ \| (accepted|late)", PAGES["concepts.md"], re.M)
    Path("road.csv").write_text("ts\n" + "".join(f"2026-06-01 {time}\n" for time, _ in rows))
    database, sink = connect(), MemorySink()
    database.execute(f"""
        CREATE SOURCE road (ts TIMESTAMP, {DELAY}) WITH (connector='file', path='road.csv');
        CREATE MATERIALIZED VIEW n AS
        SELECT COUNT(*) AS n FROM TUMBLE(road, ts, INTERVAL '10' SECOND) GROUP BY window_start
    """)
    tally = database.run(sink, Settings("fjord")).tallies["road"]
    assert [tally.accepted, tally.late] == [[fate for _, fate in rows].count(word) for word in ("accepted", "late")]
    assert sink.table("n").column("n").to_pylist() == [3, 1]


def test_files_to_deploy_start_commands_that_there_are():
    unit = (ROOT / "deploy" / "skerry.service").read_text().replace("\\\n", " ")
    parse(re.search(r"^ExecStart=\S+/skerry (.*)", unit, re.M)[1])
    objects = list(yaml.safe_load_all((ROOT / "deploy" / "kubernetes.yaml").read_text()))
    [pod] = [each["spec"]["template"]["spec"] for each in objects if each["kind"] == "StatefulSet"]
    parse(shlex.join(pod["containers"][0]["args"]))
    database = connect()
    [script] = [text for each in objects if each["kind"] == "ConfigMap" for text in each["data"].values()]
    database.execute(script)
    assert database.plans()
