"""Flink's windows in FROM.

TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))                     TUMBLE(t, ts, INTERVAL '1' MINUTE)
TABLE(HOP(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), SLIDE => a, SIZE => b))   HOP(t, ts, a, b)
TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), gap))                     SESSION_WINDOW(t, ts, gap)
"""

from collections.abc import Sequence

from sqlglot.tokenizer_core import Token, TokenType

from skerry.lang.sql.spellings.tokens import close, find_words, make_tokens, split_arguments, words_of

__all__ = ["write_window_calls"]

_WINDOWS = {"TUMBLE": "TUMBLE", "HOP": "HOP", "SESSION": "SESSION_WINDOW", "CUMULATE": "CUMULATE"}
_ORDER = ("DATA", "TIMECOL", "SLIDE", "STEP", "SIZE", "GAP", "OFFSET")
"""The names of arguments, in the order that they have without names."""


def write_window_calls(tokens: list[Token]) -> list[Token]:
    """A statement with windows in FROM as they are written here."""
    at = 0
    while at < len(tokens) - 1:
        name = words_of(tokens[at : at + 1])[0]
        end = close(tokens, at + 1) if name in _WINDOWS and tokens[at + 1].token_type == TokenType.L_PAREN else None
        if end is not None and (call := _write_call(tokens, at, end)) is not None:
            start, stop = _unwrap(tokens, at, end)
            tokens = [*tokens[:start], *call, *tokens[stop + 1 :]]
        at += 1
    return tokens


def _unwrap(tokens: Sequence[Token], start: int, end: int) -> tuple[int, int]:
    """The ends of TABLE(...) around a call, or those of the call."""
    inside = words_of(tokens[max(0, start - 2) : start]) == ["TABLE", "("]
    is_wrapped = inside and end + 1 < len(tokens) and tokens[end + 1].token_type == TokenType.R_PAREN
    return (start - 2, end + 1) if is_wrapped else (start, end)


def _write_call(tokens: Sequence[Token], at: int, end: int) -> list[Token] | None:
    """A call in our words; None if it is written so already, or cannot be."""
    arguments = _put_in_order(split_arguments(tokens[at + 2 : end]))
    if arguments is None or len(arguments) < 3:
        return None
    stream, time = arguments[0], words_of(arguments[1])
    is_foreign = words_of(stream)[:1] == ["TABLE"] or time[:2] == ["DESCRIPTOR", "("]
    partition = find_words(stream, "PARTITION BY")
    if not is_foreign or (partition is not None and not _is_grouped(stream[partition + 1 :], tokens[end:])):
        return None
    stream = stream[:partition][words_of(stream)[:1] == ["TABLE"] :]
    moment = arguments[1][2:-1] if time[:2] == ["DESCRIPTOR", "("] else arguments[1]
    comma = make_tokens(",", tokens[at])
    rest = [token for argument in arguments[2:] for token in (*comma, *argument)]
    name = make_tokens(_WINDOWS[tokens[at].text.upper()], tokens[at])
    return [*name, tokens[at + 1], *stream, *comma, *moment, *rest, tokens[end]]


def _put_in_order(arguments: list[list[Token]]) -> list[list[Token]] | None:
    """Arguments without their names, in the order of these."""
    named = [len(each) > 2 and each[1].token_type == TokenType.FARROW for each in arguments]
    if not any(named):
        return arguments
    names = [words_of(each)[0] for each in arguments]
    if not all(named) or not set(names) <= set(_ORDER):
        return None
    return [each[2:] for each in sorted(arguments, key=lambda each: _ORDER.index(words_of(each)[0]))]


def _is_grouped(keys: Sequence[Token], rest: Sequence[Token]) -> bool:
    """Whether GROUP BY names what sessions are told apart by."""
    group = find_words(rest, "GROUP BY")
    words = set(words_of(rest[group:])) if group is not None else set()
    return all(word in words for word in words_of(keys) if word not in (",", "(", ")"))
