"""Clauses of ksqlDB, NebulaStream, Azure Stream Analytics, RisingWave and Flink that no parser of ours knows.

FROM s WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY k     FROM s GROUP BY TUMBLINGWINDOW(INTERVAL '1' MINUTE), k
FROM s GROUP BY k WINDOW SLIDING (t, SIZE a, ADVANCE BY b)   FROM s GROUP BY k, HOPPINGWINDOW(a, b, BY_TIME(t))
FROM s TIMESTAMP BY t GROUP BY TumblingWindow(...)    FROM s GROUP BY TumblingWindow(..., BY_TIME(t))
a JOIN b WITHIN 1 MINUTE ON a.k = b.k                 a JOIN b ON JOINED_WITHIN(...) AND a.k = b.k
FLOOR(ts TO MINUTE)                                   DATE_TRUNC('MINUTE', ts)
GROUP BY window(ts, size, slide)                      the same, as a call
GROUP BY SESSION(ts, gap)                             GROUP BY SESSION_WINDOW(ts, gap)
EMIT CHANGES, EMIT FINAL, EMIT ON WINDOW CLOSE        nothing: that is what views do
PATTERN (...) WITHIN INTERVAL '5' MINUTE DEFINE       PATTERN (...) DEFINE "#within" AS INTERVAL '5' MINUTE,
"""

from itertools import pairwise

from sqlglot.tokenizer_core import Token, TokenType

from skerry.lang.sql.spellings.tokens import close, find_words, make_tokens, split_arguments, words_of

__all__ = ["write_window_clauses"]

_CALLS = ("TUMBLINGWINDOW", "HOPPINGWINDOW", "SESSIONWINDOW")
_CLAUSES = {
    "TUMBLING": "TUMBLINGWINDOW",
    "HOPPING": "HOPPINGWINDOW",
    "SLIDING": "HOPPINGWINDOW",
    "SESSION": "SESSIONWINDOW",
}
_EMITS = (("EMIT", "CHANGES"), ("EMIT", "FINAL"), ("EMIT", "ON", "WINDOW", "CLOSE"))
_SHORT_UNITS = {"MIN": "MINUTE", "MS": "MILLISECOND", "SEC": "SECOND"}
_SPAN = 2
"""How many tokens a span of time has: a number and a unit."""


def write_window_clauses(tokens: list[Token]) -> list[Token]:
    """A statement without those clauses."""
    for write in (
        _drop_emit,
        _drop_continuous,
        _write_window,
        _write_timestamp_by,
        _write_within,
        _write_floor,
        _write_session,
        _write_window_call,
        _write_pattern_within,
    ):
        tokens = write(tokens)
    return tokens


def _drop_emit(tokens: list[Token]) -> list[Token]:
    for words in _EMITS:
        at = find_words(tokens, *words)
        ends = at is not None and words_of(tokens[at + len(words) :])[:1] in ([], [")"])
        if at is not None and ends and at > 0 and tokens[at - 1].token_type != TokenType.COMMA:
            tokens = [*tokens[:at], *tokens[at + len(words) :]]
    return tokens


def _drop_continuous(tokens: list[Token]) -> list[Token]:
    """TimescaleDB's WITH (timescaledb.continuous, ...) of a view, and WITH NO DATA behind it."""
    at = find_words(tokens, "WITH", "(", "TIMESCALEDB", ".")
    end = close(tokens, at + 1) if at is not None else None
    if at is not None and end is not None:
        options = split_arguments(tokens[at + 2 : end])
        kept = [each for each in options if words_of(each)[:1] != ["TIMESCALEDB"]]
        tokens = [*tokens[:at], *tokens[end + 1 :]] if not kept else tokens
    return tokens[:-3] if words_of(tokens[-3:]) == ["WITH", "NO", "DATA"] else tokens


def _write_window(tokens: list[Token]) -> list[Token]:
    """WINDOW TUMBLING (...) as a call in GROUP BY, which stands behind it, or, in NebulaStream, before it."""
    for kind, name in _CLAUSES.items():
        while (at := find_words(tokens, "WINDOW", kind, "(")) is not None:
            end = close(tokens, at + 2)
            time, arguments = _take_time(split_arguments(tokens[at + 3 : end]) if end else [])
            spans = _read_spans(arguments)
            behind = find_words(tokens, "GROUP BY", start=end or at)
            before = find_words(tokens[:at], "GROUP BY")
            if end is None or spans is None or (behind is None and before is None):
                return tokens
            opened, closed = make_tokens(f"{name}({', '.join(spans)}", tokens[at]), make_tokens(")", tokens[at])
            moment = [*make_tokens(", BY_TIME(", tokens[at]), *time, *closed] if time else []
            call, comma = [*opened, *moment, *closed], make_tokens(",", tokens[at])
            if behind is not None:
                tokens = [*tokens[:at], *tokens[end + 1 : behind + 1], *call, *comma, *tokens[behind + 1 :]]
            else:
                tokens = [*tokens[:at], *comma, *call, *tokens[end + 1 :]]
    return tokens


def _take_time(arguments: list[list[Token]]) -> tuple[list[Token], list[list[Token]]]:
    """The column that a window goes by, if it is named first; and the rest."""
    is_named = bool(arguments) and len(arguments[0]) == 1 and arguments[0][0].text.isidentifier()
    return (arguments[0], arguments[1:]) if is_named else ([], arguments)


def _read_spans(arguments: list[list[Token]]) -> list[str] | None:
    """SIZE and ADVANCE BY, as intervals; RETENTION says how long answers are kept, which is not asked here."""
    found = []
    for argument in arguments:
        words = words_of(argument)
        if words[:1] == ["RETENTION"]:
            continue
        bare = argument[words[:1] == ["SIZE"] :]
        bare = bare[2:] if words[:2] == ["ADVANCE", "BY"] else bare
        if (span := _read_span(bare)) is None:
            return None
        found.append(span)
    return found


def _read_span(tokens: list[Token]) -> str | None:
    if len(tokens) != _SPAN or tokens[0].token_type != TokenType.NUMBER or not tokens[1].text.isalpha():
        return None
    unit = _SHORT_UNITS.get(tokens[1].text.upper(), tokens[1].text)
    return f"INTERVAL '{tokens[0].text}' {unit}"


def _write_timestamp_by(tokens: list[Token]) -> list[Token]:
    """TIMESTAMP BY, told to the windows: they go by that time."""
    while (at := find_words(tokens, "TIMESTAMP", "BY")) is not None:
        end = at + 3
        while end + 1 < len(tokens) and tokens[end].token_type == TokenType.DOT:
            end += 2
        column = tokens[end - 1 : end]
        tokens = [*tokens[:at], *tokens[end:]]
        for name in _CALLS:
            call = find_words(tokens, name, "(")
            closed = close(tokens, call + 1) if call is not None else None
            if closed is not None:
                before = make_tokens(", BY_TIME(", tokens[closed])
                after = make_tokens(")", tokens[closed])
                tokens = [*tokens[:closed], *before, *column, *after, *tokens[closed:]]
    return tokens


def _write_within(tokens: list[Token]) -> list[Token]:
    """WITHIN of a join as a condition."""
    start = 0
    while (at := find_words(tokens, "WITHIN", start=start)) is not None:
        start = at + 1
        on = find_words(tokens, "ON", start=at)
        bare = tokens[at + 1 : on] if on is not None else []
        inner = bare[1:-1] if bare and bare[0].token_type == TokenType.L_PAREN else bare
        spans = [_read_span(each) for each in split_arguments(inner)]
        if on is not None and len(spans) in (1, 2) and None not in spans:
            call = make_tokens(f"ON JOINED_WITHIN({spans[0]}, {spans[-1]}) AND", tokens[at])
            tokens = [*tokens[:at], *call, *tokens[on + 1 :]]
    return tokens


def _write_floor(tokens: list[Token]) -> list[Token]:
    start = 0
    while (at := find_words(tokens, "FLOOR", "(", start=start)) is not None:
        start, end = at + 1, close(tokens, at + 1)
        if end is not None and words_of(tokens[end - 2 : end - 1]) == ["TO"]:
            call = make_tokens(f"DATE_TRUNC('{tokens[end - 1].text}',", tokens[at])
            tokens = [*tokens[:at], *call, *tokens[at + 2 : end - 2], *tokens[end:]]
    return tokens


def _write_session(tokens: list[Token]) -> list[Token]:
    """SESSION is a word of sqlglot's; a call of it is a window."""
    start = 0
    while (at := find_words(tokens, "SESSION", "(", start=start)) is not None:
        start = at + 1
        tokens = [*tokens[:at], *make_tokens("SESSION_WINDOW", tokens[at]), *tokens[at + 1 :]]
    return tokens


def _write_window_call(tokens: list[Token]) -> list[Token]:
    """WINDOW is a word of sqlglot's; a call of it, in GROUP BY, is Spark's function."""
    for token, following in pairwise(tokens):
        if token.token_type == TokenType.WINDOW and following.token_type == TokenType.L_PAREN:
            token.token_type = TokenType.VAR
    return tokens


def _write_pattern_within(tokens: list[Token]) -> list[Token]:
    """How long a match of MATCH_RECOGNIZE may take, as a definition under a name that nobody can write."""
    start = 0
    while (at := find_words(tokens, "PATTERN", "(", start=start)) is not None:
        start, end = at + 1, close(tokens, at + 1)
        if end is None or words_of(tokens[end + 1 : end + 3]) != ["WITHIN", "INTERVAL"]:
            continue
        stop = find_words(tokens, "DEFINE", start=end)
        if stop is not None:
            inserted = [
                *make_tokens('"#within" AS', tokens[end]),
                *tokens[end + 2 : stop],
                *make_tokens(",", tokens[end]),
            ]
            tokens = [*tokens[: end + 1], tokens[stop], *inserted, *tokens[stop + 1 :]]
    return tokens
