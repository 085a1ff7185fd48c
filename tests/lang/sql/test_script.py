import pyarrow as pa
import pytest
from sqlglot import exp

from skerry.catalog import Catalog
from skerry.errors import CatalogError, InputError, OptionError
from skerry.lang.sql import Session
from skerry.lang.sql.statements import read
from tests.lang.sql.scripts import TRAFFIC, TUMBLE, refused, session

SLOW = "CREATE MATERIALIZED VIEW slow AS SELECT speed FROM traffic WHERE speed < 30"


def test_statements_are_carried_out_in_order():
    made = session(f"{SLOW}; CREATE TABLE t (a INT) WITH (connector='file'); DROP TABLE t")
    assert made.catalog.names() == ["traffic", "slow"]


def test_wrong_statement_leaves_the_catalogue_as_it_was():
    made = session()
    with pytest.raises(InputError, match="line 2, column 1"):
        made.execute(f"{SLOW};\nDROP SOURCE nowhere")
    assert made.catalog.names() == ["traffic"]


def test_statement_that_cannot_be_read_stops_the_script_before_it_begins():
    made = session()
    with pytest.raises(InputError):
        made.execute(f"DROP SOURCE traffic; {SLOW} SELECT")
    assert made.catalog.names() == ["traffic"]


def test_script_that_went_wrong_can_be_mended_and_run_again():
    made = session()
    with pytest.raises(InputError):
        made.execute(f"{SLOW}; DROP SOURCE nowhere")
    made.execute(SLOW)
    assert made.catalog.names() == ["traffic", "slow"]


def test_view_may_read_a_source_of_the_same_script():
    made = Session(Catalog.in_memory())
    made.execute(f"{TRAFFIC};{SLOW}")
    assert [plan.name for plan in made.plans()] == ["slow"]


def test_text_is_kept_verbatim():
    text = "create  Materialized View SLOW as\n  select speed -- miles\n  from Traffic"
    assert session(f"-- first\n{text} ; -- last").catalog.view("slow").text == text


def test_options_of_a_view_are_kept():
    made = session("CREATE MATERIALIZED VIEW v WITH (emit='final', Late_To='V Late') AS SELECT speed FROM traffic")
    assert made.plan("v").options == {"emit": "final", "late_to": "V Late"}


def test_plan_is_made_from_the_catalogue_of_a_project(tmp_path):
    first = Session(Catalog.of_project(tmp_path))
    first.execute(f"{TRAFFIC}; {SLOW}")
    first.catalog.close()
    again = Session(Catalog.of_project(tmp_path))
    assert again.plan("slow").root.schema.names == ["speed"]
    again.catalog.close()


def test_same_statement_again_changes_nothing():
    assert session(SLOW, SLOW).catalog.names() == ["traffic", "slow"]


def test_name_that_is_taken_is_refused():
    told = refused(f"{SLOW};\nCREATE MATERIALIZED VIEW slow AS SELECT speed FROM traffic")
    assert told == "line 2, column 1: 'slow' exists already; write CREATE OR REPLACE, or DROP it first"


def test_name_that_is_taken_is_passed_over_if_asked():
    made = session(SLOW, "CREATE MATERIALIZED VIEW IF NOT EXISTS slow AS SELECT ts FROM traffic")
    assert made.catalog.view("slow").text == SLOW


def test_view_is_replaced_if_asked():
    made = session(SLOW, "CREATE OR REPLACE MATERIALIZED VIEW slow AS SELECT ts FROM traffic")
    assert made.plan("slow").root.schema.names == ["ts"]


def test_source_is_replaced_if_its_views_still_hold():
    made = session(SLOW, "CREATE OR REPLACE SOURCE traffic (speed INT) WITH (connector='sim')")
    assert [str(field.type) for field in made.plan("slow").root.schema] == ["int32"]


def test_source_that_its_views_could_no_longer_read_is_refused():
    made = session(SLOW)
    with pytest.raises(CatalogError, match=r"cannot replace 'traffic'; view 'slow' reads it: .*unknown column 'speed'"):
        made.execute("CREATE OR REPLACE SOURCE traffic (a INT) WITH (connector='sim')")
    assert made.plan("slow").root.schema.names == ["speed"]


def test_view_cannot_take_the_place_of_a_source():
    told = refused("CREATE OR REPLACE MATERIALIZED VIEW traffic AS SELECT speed FROM traffic")
    assert told == "line 1, column 1: cannot replace the VIEW 'traffic'; it is a SOURCE"


def test_source_that_a_view_reads_cannot_be_dropped():
    made = session(SLOW)
    with pytest.raises(CatalogError, match="'traffic' is read by slow; drop these first"):
        made.execute("DROP SOURCE traffic")


def test_source_can_be_dropped_with_its_views():
    assert session(f"{SLOW}; DROP MATERIALIZED VIEW slow; DROP SOURCE traffic").catalog.names() == []


def test_dropping_what_is_not_there_tells_what_is():
    assert refused("DROP SOURCE trafic") == "line 1, column 1: there is no 'trafic' to drop; known are traffic"


def test_dropping_what_is_not_there_is_fine_if_asked():
    assert session("DROP SOURCE IF EXISTS trafic").catalog.names() == ["traffic"]


@pytest.mark.parametrize("kind", ["VIEW", "TABLE", "MATERIALIZED VIEW"])
def test_source_is_dropped_as_a_source_alone(kind):
    assert "'traffic'; it is a SOURCE" in refused(f"DROP {kind} traffic")


def test_drop_cascade_is_refused():
    assert "DROP ... CASCADE is not available" in refused("DROP SOURCE traffic CASCADE")


@pytest.mark.parametrize(
    "statement",
    [
        *("INSERT INTO traffic VALUES (1)", "DELETE FROM traffic", "UPDATE traffic SET speed = 1"),
        *("ALTER TABLE traffic ADD x INT", "CREATE INDEX i ON traffic (speed)", "CREATE SCHEMA s", "SET x = 1"),
        *("COPY traffic TO 'x'", "SHOW TABLES", "VACUUM", "nonsense"),
        *("EXPLAIN SELECT 1", "DROP SCHEMA s", "TRUNCATE TABLE traffic", "BEGIN"),
    ],
)
def test_other_statements_are_refused_and_the_known_ones_told(statement):
    told = refused(f"\n {statement}")
    assert told.startswith("line 2, column 2: cannot run '")
    assert "known are CREATE SOURCE, CREATE TABLE, CREATE MATERIALIZED VIEW, DROP, INSERT and DELETE" in told


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("CREATE VIEW v AS SELECT speed FROM traffic", "a standing query is written CREATE MATERIALIZED VIEW"),
        ("CREATE MATERIALIZED VIEW v", "a view needs a query: CREATE MATERIALIZED VIEW name AS SELECT ..."),
        ("CREATE MATERIALIZED VIEW v AS", "a view needs a query: CREATE MATERIALIZED VIEW name AS SELECT ..."),
        ("CREATE MATERIALIZED VIEW v (a) AS SELECT speed FROM traffic", "a view's columns are named in its SELECT"),
        ("CREATE MATERIALIZED VIEW a.v AS SELECT speed FROM traffic", "'a.v' has a name in two parts; write v"),
        ('CREATE MATERIALIZED VIEW "a/b" AS SELECT speed FROM traffic', "'a/b' cannot be a name"),
        ("CREATE MATERIALIZED VIEW v WITH (late_to='../x') AS SELECT speed FROM traffic", "'../x' cannot be a name"),
    ],
)
def test_wrong_views_are_refused(statement, message):
    told = refused(statement)
    assert told.startswith("line 1, column ")
    assert message in told


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (
            "emt='final'",
            "view 'v' has no option 'emt'; known are backfill, battery_lifetime, emit, fallback, fallback_after, f",
        ),
        ("emit='sometimes'", "view 'v': option emit is 'sometimes'; known are final"),
    ],
)
def test_wrong_options_of_a_view_are_refused(option, message):
    with pytest.raises(OptionError, match=message):
        session(f"CREATE MATERIALIZED VIEW v WITH ({option}) AS SELECT speed FROM traffic")


def test_unknown_view_has_no_plan():
    with pytest.raises(CatalogError, match="there is no view 'jams'; known are none"):
        session().plan("jams")


def test_plans_are_in_order_of_creation():
    fast = f"CREATE MATERIALIZED VIEW fast AS SELECT MAX(speed) FROM {TUMBLE}"
    assert [plan.name for plan in session(SLOW, fast).plans()] == ["slow", "fast"]


def test_plan_is_another_when_what_it_reads_was_replaced_elsewhere():
    catalog = Catalog.in_memory()
    session, other = Session(catalog), Session(catalog)
    session.execute("CREATE SOURCE t (speed DOUBLE) WITH (connector='file', path='t.csv')")
    session.execute("CREATE MATERIALIZED VIEW slow AS SELECT speed + 1 AS more FROM t WHERE speed < 30")
    assert session.plan("slow") is session.plan("slow")
    assert session.plan("slow").root.schema.field("more").type == pa.float64()
    other.execute("CREATE OR REPLACE SOURCE t (speed INT) WITH (connector='file', path='t.csv')")
    assert session.plan("slow").root.schema.field("more").type == pa.int32()
    other.execute("CREATE OR REPLACE MATERIALIZED VIEW slow AS SELECT speed FROM t")
    assert session.plan("slow").root.schema.names == ["speed"]


@pytest.mark.parametrize("option", ["sample_period", "battery_lifetime"])
@pytest.mark.parametrize("value", ["soon", "0s", "1 month"])
def test_what_is_asked_of_sensors_is_a_span_of_time(option, value):
    with pytest.raises(OptionError, match=f"option {option} of view 'v' must be a span of time .*; got '{value}'"):
        session(f"CREATE MATERIALIZED VIEW v WITH ({option}='{value}') AS SELECT speed FROM traffic")


@pytest.mark.parametrize("word", ["lifetime", "output", "fallback"])
def test_column_that_is_called_as_an_option_is_compared_by_its_values(word):
    (statement,) = read(f"CREATE VIEW v WITH ({word}='x') AS SELECT 1 FROM t WHERE {word} = 'on' AND ({word} = 'on')")
    assert [column.name for column in statement.tree.find_all(exp.Column)] == [word, word]


def test_lifetime_may_be_asked_for_by_a_view_in_either_spelling_but_once():
    made = session("CREATE MATERIALIZED VIEW v WITH (lifetime='90 days') AS SELECT speed FROM traffic")
    assert [view.options for view in made.catalog.views()][-1]["battery_lifetime"] == "90 days"
    with pytest.raises(OptionError, match="'battery_lifetime' is given twice"):
        session("CREATE MATERIALIZED VIEW w WITH (lifetime='9 days', battery_lifetime='9 days') AS SELECT 1")


@pytest.mark.parametrize("option", ["battery_lifetime", "lifetime", "Lifetime", '"lifetime"'])
def test_lifetime_of_batteries_belongs_to_the_source(option):
    made = session(f"CREATE SOURCE t (speed DOUBLE) WITH (connector='file', path='x', {option}='90 days')")
    found = made.catalog.sources()[-1]
    assert (found.battery_lifetime_us, dict(found.options)) == (90 * 86_400_000_000, {"path": "x"})
