"""Spellings of other stream processors, each with what it is written as here. Asked when a statement was refused."""

import re
from collections.abc import Sequence

from sqlglot.tokenizer_core import Token, TokenType

__all__ = ["find_foreign"]

_TUMBLE = "FROM TUMBLE(stream, ts, INTERVAL '10' SECOND) GROUP BY key, window_start"
_HOP = "FROM HOP(stream, ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND) GROUP BY key, window_start, the slide first"
_SESSION = "FROM SESSION_WINDOW(stream, ts, INTERVAL '10' SECOND) GROUP BY key, window_start"
_SLIDING = "FROM SLIDING(a, ts, INTERVAL '1' HOUR) AS a JOIN SLIDING(b, ts, INTERVAL '1' HOUR) AS b ON a.key = b.key"
_SOURCE = "CREATE SOURCE name (ts TIMESTAMP, ..., WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH (connector=...)"
_VIEW = "CREATE MATERIALIZED VIEW name AS SELECT ..."
_UNIT = "(MICROSECOND|MILLISECOND|SECOND|MINUTE|HOUR|DAY|SS|MI|HH|DD)S?"

_ROW_NUMBER = "QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, key ORDER BY ts) = 1 over TUMBLE"
_UNNEST = "the elements of a list are rows by FROM stream CROSS JOIN UNNEST(list) AS t (x)"

_SPELLINGS: tuple[tuple[str, str], ...] = (
    (
        r"(CREATE) (OR REPLACE )?STREAM\b.* AS SELECT",
        f"CREATE STREAM ... AS is written {_VIEW}",
    ),
    (
        r"(CREATE) (TEMPORARY )?TABLE\b[^()]* AS SELECT",
        f"CREATE TABLE ... AS is written {_VIEW}",
    ),
    (
        r"(CUMULATE) \(",
        "CUMULATE is not available; write SUM(x) OVER (PARTITION BY window_start, key ORDER BY ts) over TUMBLE",
    ),
    (r"TABLE \( (TUMBLE|HOP|SESSION) \(", f"TABLE(window(...)) cannot be read here; it is written {_TUMBLE}"),
    (r"(DESCRIPTOR) \(", f"TUMBLE(TABLE stream, DESCRIPTOR(ts), ...) is written {_TUMBLE}"),
    (r"(GRACE) PERIOD", f"leave GRACE PERIOD out: how late readings may be is declared with the source, {_SOURCE}"),
    (r"WINDOW (TUMBLING) \(", f"WINDOW TUMBLING (SIZE ...) is written {_TUMBLE}"),
    (r"WINDOW (HOPPING) \(", f"WINDOW HOPPING (SIZE ..., ADVANCE BY ...) is written {_HOP}"),
    (r"WINDOW (SESSION) \(", f"WINDOW SESSION (...) is written {_SESSION}"),
    (r"(SESSION) WITH GAP", f"a session is written {_SESSION}"),
    (r"(CREATE) (OR REPLACE )?STREAM\b", f"CREATE STREAM is written {_SOURCE}"),
    (rf"(WITHIN) \(? ?\d+ {_UNIT}", f"JOIN ... WITHIN is written {_SLIDING}"),
    (r"(SLIDINGWINDOW|SNAPSHOTWINDOW) \(", f"windows that move with each reading are not available; write {_HOP}"),
    (
        r"(LIMIT) DURATION \(",
        "LAG within a time: CASE WHEN LAG(ts) OVER w >= ts - INTERVAL '5' MINUTE THEN LAG(x) OVER w END",
    ),
    (
        r"(ISFIRST) \(",
        f"ISFIRST is {_ROW_NUMBER}",
    ),
    (r"(TOPONE) \(", "TopOne() is ARG_MAX(column, by), one per column that is wanted"),
    (r"(PERCENTILE_CONT|PERCENTILE_DISC) \( [0-9.]+ \) OVER", "write PERCENTILE_CONT(0.95) WITHIN GROUP (ORDER BY x)"),
    (r"(LATERAL) \(", "LATERAL is not available; join the table, or make a view of the first rows of each window"),
    (r"(CROSS|OUTER) APPLY", _UNNEST),
    (r"LATERAL (FLATTEN) \(", _UNNEST),
    (r"(SAMPLE) BY", f"SAMPLE BY is written {_TUMBLE}"),
    (
        r"(LATEST) (?:ON|BY)\b",
        "LATEST ON is written SELECT key, LAST(x) FROM stream GROUP BY key, WITH (emit='changes')",
    ),
    (
        r"SELECT (TOP) (?:\d|\()",
        "TOP n is written FROM TUMBLE(stream, ts, INTERVAL '1' MINUTE) ORDER BY x DESC LIMIT n, for n rows per window",
    ),
    (r"(TABLESAMPLE) ", "TABLESAMPLE is not available; write WHERE hash(key) % 10 = 0"),
    (r"LIMIT \d+ (BY) ", f"LIMIT n BY key is {_ROW_NUMBER}"),
    (r"GROUP BY (?:.* , )?(TIME) \( \d", "GROUP BY time(1m) is written GROUP BY date_trunc('minute', ts)"),
    (r"(QUANTILES?[A-Z]*) \( [0-9. ,]+ \) \(", "quantile(0.9)(x) is written QUANTILE_CONT(x, 0.9)"),
    (r"(TIME_BUCKET_GAPFILL|LOCF|INTERPOLATE) \(", "rows for windows without readings: WITH (silent_rows='true')"),
    (r"(CANDLESTICK_AGG) \(", "a candlestick is FIRST(x ORDER BY ts), MAX(x), MIN(x), LAST(x ORDER BY ts)"),
    (r"(PERCENTILE_AGG|UDDSKETCH|TDIGEST) \(", "an approximate percentile is APPROX_QUANTILE(x, 0.5)"),
    (r"(WINDOWS) \( (?:TUMBLING|HOPPING|SESSION)WINDOW", "a view has one window; make a view of each"),
    (r"(COLLECTTOP) \(", "CollectTop(3) OVER (ORDER BY x) is ARG_MAX(column, x, 3), one per column that is wanted"),
    (r"(PROCTIME|PROCESSING_TIME) \(", "time is that of the readings: name its column, ts"),
    (r"(PIVOT|UNPIVOT) ", "PIVOT is written SUM(x) FILTER (WHERE key = 'a') AS a, ... GROUP BY ..."),
    (r"^(SUBSCRIBE)\b", f"a query that goes on is a view: {_VIEW}"),
    (
        r"^(CREATE) (OR REPLACE )?(TEMP(ORARY)? )?(MACRO|FUNCTION)\b",
        "functions of one's own are made in Python, create_function(name, f, ...); or write the expression itself",
    ),
    (r"SELECT .*\b(INTO) ", f"SELECT ... INTO name is written {_VIEW}"),
    (r"(CREATE) (OR REPLACE )?SINK\b", "answers of a view are written to the folder of --out; leave CREATE SINK out"),
    (
        r"^(INSERT) INTO (?!SUBSCRIPTIONS\b).* SELECT",
        f"INSERT INTO ... SELECT is written {_VIEW}",
    ),
)


def find_foreign(tokens: Sequence[Token]) -> tuple[Token, str] | None:
    """The first token of a foreign spelling, and what to write instead; None if there is none.

    >>> import sqlglot
    >>> find_foreign(sqlglot.tokenize("SELECT TopOne() FROM t"))[1][:22]
    'TopOne() is ARG_MAX(co'
    """
    texts = [_spell(token) for token in tokens]
    starts = [0]
    for text in texts:
        starts.append(starts[-1] + len(text) + 1)
    line = " ".join(texts)
    for pattern, message in _SPELLINGS:
        found = re.search(rf"(?<!\S){pattern}", line)
        if found:
            index = max(number for number, start in enumerate(starts[:-1]) if start <= found.start(1))
            return tokens[index], message
    return None


def _spell(token: Token) -> str:
    """A token in capitals; of a text only that it is one, and a quoted name is not a word."""
    if token.token_type == TokenType.STRING:
        return "''"
    return "''" if token.token_type == TokenType.IDENTIFIER else token.text.upper()
