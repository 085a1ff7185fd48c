"""Random standing queries, each with what DuckDB is asked for the same rows.

Both texts are made together: what differs is how a window is laid, and that DuckDB sees all rows at once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

__all__ = ["Query", "make_query"]

_EPOCH = "TIMESTAMP '1970-01-01'"
_KEYS = ("k", "s", "n")


@dataclass(frozen=True)
class Query:
    """A query as it is written here, and as DuckDB reads it."""

    ours: str
    duckdb: str


def make_query(random: Random) -> Query:
    """Draw a query from the grammar."""
    kinds: list[Callable[[Random], Query]] = [
        *(_selection, _aggregate, _aggregate, _aggregate, _session, _join, _outer_join, _asof, _lookup),
        *(_partners, _table_questions, _over, _over, _union, _chain, _distinct, _top, _grouping_sets, _unnest),
    ]
    return random.choice(kinds)(random)


def _same(text: str) -> Query:
    return Query(text, text)


def _number(random: Random, name: str = "") -> str:
    x, n, s = (f"{name}{each}" for each in ("x", "n", "s"))
    simple = [x, n, f"{x} + 1", f"abs({x})", f"coalesce({x}, -1.5)", f"greatest({x}, {n})", f"{n} % 3", f"-{n}"]
    more = [f"nullif({n}, 2)", f"length({s})", f"CASE WHEN {_truth(random, name, 0)} THEN {x} ELSE {n} END"]
    return random.choice(simple + more)


def _text(random: Random, name: str = "") -> str:
    k, s = f"{name}k", f"{name}s"
    more = f"CASE WHEN {_truth(random, name, 0)} THEN {s} ELSE 'ß' END"
    return random.choice([s, f"upper({s})", f"coalesce({s}, '-')", f"{k} || 'z'", f"substr({s}, 1, 1)", more])


def _truth(random: Random, name: str = "", depth: int = 1) -> str:
    x, n, s, k = (f"{name}{each}" for each in ("x", "n", "s", "k"))
    low = random.randint(-2, 3)
    simple = [f"{x} > {low}", f"{x} <= {low}.25", f"{n} BETWEEN {low} AND {low + 2}", f"{s} LIKE 'a%'", f"{k} <> 'b'"]
    simple += [
        f"{k} IN ('a', 'ä')",
        f"{x} IS NULL",
        f"{s} IS NOT NULL",
        f"isnan({x})",
        f"{n} IN (1, {low})",
        f"{n} <> {low}",
    ]
    if depth and random.random() < 0.4:
        left, right = _truth(random, name, depth - 1), _truth(random, name, depth - 1)
        return random.choice([f"({left} AND {right})", f"({left} OR {right})", f"NOT ({left})"])
    return random.choice(simple)


def _fold(random: Random) -> str:
    kinds = ["COUNT(*)", "COUNT(x)", "SUM(n)", "MIN(x)", "MAX(x)", "MAX(s)", "AVG(n)", "SUM(x)", "COUNT(DISTINCT s)"]
    kinds += ["ARG_MAX(s, ts)", "ARG_MIN(x, ts)", "MEDIAN(n)", "STRING_AGG(s, ',' ORDER BY ts)", "STDDEV_POP(n)"]
    kinds += [f"BOOL_OR({_truth(random)})", f"SUM({_number(random)})", f"MIN({_text(random)})", "FIRST(x ORDER BY ts)"]
    found = random.choice(kinds)
    return f"{found} FILTER (WHERE {_truth(random)})" if random.random() < 0.25 else found


def _window(random: Random, stream: str) -> Query:
    """TUMBLE or HOP over a stream that both know by that name."""
    slide = random.choice([5, 10, 20])
    if random.random() < 0.6:
        size = f"INTERVAL '{slide}' SECOND"
        start = f"time_bucket({size}, ts, {_EPOCH})"
        laid = f"(SELECT *, {start} AS window_start, {start} + {size} AS window_end FROM {stream})"
        return Query(f"TUMBLE({stream}, ts, {size})", laid)
    step, size = f"INTERVAL '{slide}' SECOND", f"INTERVAL '{2 * slide}' SECOND"
    last = f"time_bucket({step}, ts, {_EPOCH})"
    starts = f"SELECT *, unnest([{last} - {step}, {last}]) AS window_start FROM {stream}"
    return Query(
        f"HOP({stream}, ts, {step}, {size})", f"(SELECT *, window_start + {size} AS window_end FROM ({starts}))"
    )


def _over_window(query: str, window: Query) -> Query:
    return Query(query.replace("#", window.ours), query.replace("#", window.duckdb))


def _where(random: Random, name: str = "") -> str:
    return f" WHERE {_truth(random, name)}" if random.random() < 0.5 else ""


def _selection(random: Random) -> Query:
    return _same(
        f"SELECT k, ts, {_number(random)} AS a, {_text(random)} AS b, {_truth(random)} AS c FROM r{_where(random)}"
    )


def _aggregate(random: Random) -> Query:
    key = random.choice([*_KEYS, "coalesce(s, '-')", "n % 2"])
    folds = f"{_fold(random)} AS a, {_fold(random)} AS b"
    having = random.choice(["", "", " HAVING COUNT(*) > 1", " HAVING MIN(n) < 2"])
    text = f"SELECT {key} AS g, window_start, {folds} FROM #{_where(random)} GROUP BY {key}, window_start{having}"
    return _over_window(text, _window(random, "r"))


def _session(random: Random) -> Query:
    gap, fold = f"INTERVAL '{random.choice([2, 4, 8])}' SECOND", random.choice(["COUNT(*)", "SUM(n)", "MAX(x)"])
    before = "SELECT *, LAG(ts) OVER (PARTITION BY k ORDER BY ts) AS before FROM r"
    is_new = f"CASE WHEN ts - before <= {gap} THEN 0 ELSE 1 END"
    numbered = f"SELECT *, SUM({is_new}) OVER (PARTITION BY k ORDER BY ts) AS number FROM ({before})"
    return Query(
        f"SELECT k, window_start, window_end, {fold} AS a FROM SESSION_WINDOW(r, ts, {gap}) "
        "GROUP BY k, window_start, window_end",
        f"SELECT k, MIN(ts), MAX(ts) + {gap}, {fold} AS a FROM ({numbered}) GROUP BY k, number",
    )


def _join(random: Random) -> Query:
    one, other = (f"INTERVAL '{random.choice([1, 5, 10])}' SECOND" for _ in range(2))
    asked = f"a.k = b.k AND {_truth(random, 'a.')}" if random.random() < 0.8 else "a.n = b.m"
    chosen = f"a.k, a.ts AS at, b.ts AS bt, {_number(random, 'a.')} AS v, b.y"
    return Query(
        f"SELECT {chosen} FROM SLIDING(r, ts, {one}) AS a JOIN SLIDING(e, ts, {other}) AS b ON {asked}",
        f"SELECT {chosen} FROM r AS a JOIN e AS b ON {asked} AND b.ts BETWEEN a.ts - {other} AND a.ts + {one}",
    )


def _outer_join(random: Random) -> Query:
    side = random.choice(["LEFT", "RIGHT", "FULL", "INNER"])
    early, late = random.choice([1, 5]), random.choice([0, 3, 9])
    times = f"b.ts BETWEEN a.ts - INTERVAL '{early}' SECOND AND a.ts + INTERVAL '{late}' SECOND"
    more = random.choice(["", " AND b.y > 0", " AND a.n <> b.m"])
    chosen = "a.k, a.ts AS at, a.x, b.k AS bk, b.ts AS bt, b.y"
    return _same(f"SELECT {chosen} FROM r AS a {side} JOIN e AS b ON a.k = b.k AND {times}{more}")


def _asof(random: Random) -> Query:
    kind, sign = random.choice(["ASOF JOIN", "ASOF LEFT JOIN"]), random.choice([">=", ">"])
    return _same(f"SELECT a.k, a.ts, a.n, b.y FROM r AS a {kind} e AS b ON a.k = b.k AND a.ts {sign} b.ts")


def _lookup(random: Random) -> Query:
    side = random.choice(["", "LEFT "])
    asked = random.choice(["d.k = a.k", "d.k = a.k AND a.x > d.lim", "d.k = a.s"])
    return _same(f"SELECT a.k, a.ts, d.site, {_number(random, 'a.')} AS v FROM r AS a {side}JOIN d ON {asked}")


def _partners(random: Random) -> Query:
    span = f"INTERVAL '{random.choice([1, 4, 9])}' SECOND"
    negated = random.choice(["", "NOT "])
    times = f"b.ts BETWEEN a.ts - {span} AND a.ts"
    more = random.choice(["", " AND b.y > a.x", " AND b.m > 1"])
    exists = f"{negated}EXISTS (SELECT 1 FROM e AS b WHERE b.k = a.k AND {times}{more})"
    return _same(f"SELECT a.k, a.ts, a.x FROM r AS a WHERE {exists} AND {_truth(random, 'a.')}")


def _table_questions(random: Random) -> Query:
    asked = random.choice(
        [
            "k IN (SELECT k FROM d WHERE lim > 1)",
            "EXISTS (SELECT 1 FROM d WHERE d.k = r.k AND d.site = 'ü')",
            "NOT EXISTS (SELECT 1 FROM d WHERE d.k = r.s)",
            "x > (SELECT avg(lim) FROM d)",
            "x < (SELECT max(lim) FROM d WHERE d.k = r.k)",
        ]
    )
    return _same(f"SELECT k, ts, x FROM r WHERE {asked} {random.choice(['AND', 'OR'])} {_truth(random)}")


def _over(random: Random) -> Query:
    functions = ["LAG(x)", "LAG(n, 2)", "FIRST_VALUE(s)", "COUNT(*)", "SUM(n)", "MAX(x)", "AVG(n)", "ROW_NUMBER()"]
    function, key = random.choice(functions), random.choice(["k", "s", "n % 2"])
    frame = random.choice(
        ["ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", "RANGE BETWEEN INTERVAL '7' SECOND PRECEDING AND CURRENT ROW"]
    )
    frame = "" if function.startswith(("LAG", "ROW_NUMBER")) else frame
    call = f"{function} OVER (PARTITION BY {key} ORDER BY ts {frame})"
    qualify = (
        random.choice(["", f" QUALIFY {call} IS NOT NULL", " QUALIFY w <> 2"]) if function != "FIRST_VALUE(s)" else ""
    )
    return _same(f"SELECT k, ts, {call} AS w FROM r{_where(random)}{qualify}")


def _union(random: Random) -> Query:
    parts = [f"SELECT k, ts, {_number(random)} AS v FROM r{_where(random)}", "SELECT k, ts, y FROM e WHERE m > 0"]
    return _same(" UNION ALL ".join([*parts, f"SELECT s, ts, n FROM r{_where(random)}"][: random.choice([2, 3])]))


def _chain(random: Random) -> Query:
    inner = f"SELECT k, ts, s, n, {_number(random)} AS x FROM r{_where(random)}"
    text = f"WITH c AS ({inner}) SELECT k, window_start, {_fold(random)} AS a FROM # GROUP BY k, window_start"
    made = _over_window(text, _window(random, "c"))
    if random.random() < 0.5:
        return made
    outer = "SELECT k, count(*) AS n, max(window_start) AS last FROM ({}) AS o WHERE k <> 'b' GROUP BY k, window_start"
    return Query(outer.format(made.ours), outer.format(made.duckdb))


def _distinct(random: Random) -> Query:
    chosen = random.choice(["k", "s, n % 2 AS p", "coalesce(k, s) AS c"])
    return _over_window(f"SELECT DISTINCT {chosen}, window_start FROM #{_where(random)}", _window(random, "r"))


def _top(random: Random) -> Query:
    limit, direction = random.choice([1, 2]), random.choice(["", "DESC"])
    order = f"n {direction} NULLS LAST, ts"
    window, where = _window(random, "r"), _where(random)
    rank = f"ROW_NUMBER() OVER (PARTITION BY window_start ORDER BY {order})"
    ranked = f"SELECT k, ts, n, window_start FROM # {where} QUALIFY {rank} <= {limit}"
    if random.random() < 0.5:
        return _over_window(ranked, window)
    text = f"SELECT k, ts, n, window_start FROM {window.ours}{where} ORDER BY {order} LIMIT {limit}"
    return Query(text, ranked.replace("#", window.duckdb))


def _grouping_sets(random: Random) -> Query:
    sets = random.choice(["ROLLUP (k, s)", "CUBE (k, s)", "GROUPING SETS ((k), (s, k), ())"])
    keys = f"GROUP BY window_start, {sets}"
    return _over_window(f"SELECT k, s, window_start, {_fold(random)} AS a FROM # {keys}", _window(random, "r"))


def _unnest(random: Random) -> Query:
    lists = random.choice(["string_split(s, 'b')", "[n, n + 1]", "range(n)"])
    return _same(f"SELECT k, ts, unnest({lists}) AS u FROM r{_where(random)}")
