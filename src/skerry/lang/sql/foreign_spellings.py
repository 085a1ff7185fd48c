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

_SPELLINGS: tuple[tuple[str, str], ...] = (
    (r"TABLE \( (TUMBLE) \(", f"TABLE(TUMBLE(TABLE ...)) is written {_TUMBLE}"),
    (r"TABLE \( (HOP) \(", f"TABLE(HOP(TABLE ...)) is written {_HOP}"),
    (r"TABLE \( (SESSION) \(", f"TABLE(SESSION(TABLE ...)) is written {_SESSION}"),
    (r"(CUMULATE) \(", f"CUMULATE is not available; windows are written {_TUMBLE}"),
    (r"(DESCRIPTOR) \(", f"TUMBLE(TABLE stream, DESCRIPTOR(ts), ...) is written {_TUMBLE}"),
    (r"FOR (SYSTEM_TIME|SYSTEM_VERSION|VERSION|TIMESTAMP) AS OF", "a table is looked up as it is: JOIN table ON ..."),
    (r"(MATCH_RECOGNIZE) \(", f"a pattern is written as a join of its parts: {_SLIDING} AND b.ts > a.ts"),
    (r"(TUMBLE_START|HOP_START|SESSION_START|TUMBLE_ROWTIME) \(", f"the start of a window is window_start: {_TUMBLE}"),
    (r"(TUMBLE_END|HOP_END|SESSION_END) \(", f"the end of a window is window_end: {_TUMBLE}"),
    (r"GROUP BY .*\b(TUMBLE) \(", f"a window stands in FROM: {_TUMBLE}"),
    (r"GROUP BY .*\b(HOP) \(", f"a window stands in FROM: {_HOP}"),
    (r"WINDOW (TUMBLING) \(", f"WINDOW TUMBLING (SIZE ...) is written {_TUMBLE}"),
    (r"WINDOW (HOPPING) \(", f"WINDOW HOPPING (SIZE ..., ADVANCE BY ...) is written {_HOP}"),
    (r"WINDOW (SESSION) \(", f"WINDOW SESSION (...) is written {_SESSION}"),
    (
        r"(CREATE) (OR REPLACE )?STREAM\b.* AS SELECT",
        f"CREATE STREAM ... AS is written {_VIEW}",
    ),
    (r"(CREATE) (OR REPLACE )?STREAM\b", f"CREATE STREAM is written {_SOURCE}"),
    (rf"(WITHIN) \(? ?\d+ {_UNIT}", f"JOIN ... WITHIN is written {_SLIDING}"),
    (r"(EMIT) (CHANGES|FINAL)", "leave EMIT out: a view gives a row when its window is over, or else at once"),
    (r"(TIMESTAMP) BY", f"leave TIMESTAMP BY out: the time is declared with the source, {_SOURCE}"),
    (r"(TUMBLINGWINDOW) \(", f"TumblingWindow(second, 10) is written {_TUMBLE}"),
    (r"(HOPPINGWINDOW) \(", f"HoppingWindow(second, 10, 5) is written {_HOP}"),
    (r"(SESSIONWINDOW) \(", f"SessionWindow(second, 10, 50) is written {_SESSION}"),
    (r"(SLIDINGWINDOW|SNAPSHOTWINDOW) \(", f"windows that move with each reading are not available; write {_HOP}"),
    (r"(SYSTEM) \. TIMESTAMP", f"System.Timestamp() is window_end: {_TUMBLE}"),
    (
        rf"(DATEDIFF|DATE_DIFF) \( {_UNIT} ,",
        f"write date_diff('second', a.ts, b.ts) in {_SLIDING}",
    ),
    (rf"(DATEADD|DATE_ADD) \( {_UNIT} ,", "DATEADD(second, 10, ts) is written ts + INTERVAL '10' SECOND"),
    (r"(WINDOW) \( [^()]* '", f"window(ts, '10 seconds') is written {_TUMBLE}"),
    (r"(SESSION_WINDOW) \( [^(),]* , '", f"session_window(ts, '10 seconds') is written {_SESSION}"),
    (r"SELECT .*\b(INTO) ", f"SELECT ... INTO name is written {_VIEW}"),
    (r"(CREATE) (OR REPLACE )?SINK\b", "answers of a view are written to the folder of --out; leave CREATE SINK out"),
    (
        r"(CREATE) (TEMPORARY )?TABLE\b[^()]* AS SELECT",
        f"CREATE TABLE ... AS is written {_VIEW}",
    ),
    (
        r"^(INSERT) INTO (?!SUBSCRIPTIONS\b).* SELECT",
        f"INSERT INTO ... SELECT is written {_VIEW}",
    ),
)


def find_foreign(tokens: Sequence[Token]) -> tuple[Token, str] | None:
    """The first token of a foreign spelling, and what to write instead; None if there is none.

    >>> import sqlglot
    >>> find_foreign(sqlglot.tokenize("SELECT k FROM t EMIT CHANGES"))[1][:17]
    'leave EMIT out: a'
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
