"""A project's skerry.toml: modules of built-ins, and limits of rules."""

import math

import pytest

from skerry.deduce.project_settings import list_allowed_modules, read_project_limits
from skerry.errors import InputError
from skerry.plan.limits import Limits


def test_settings_name_the_modules(tmp_path):
    assert list_allowed_modules(tmp_path) == ()
    (tmp_path / "skerry.toml").write_text('[rules]\nbuiltins = ["steps", "more"]\n')
    assert list_allowed_modules(tmp_path) == ("steps", "more")


@pytest.mark.parametrize(
    "text", ["[rules", "rules = 3", '[rules]\nbuiltins = "steps"', "[rules]\nbuiltins = [1]", b"\xff"]
)
def test_wrong_settings_are_told(tmp_path, text):
    (tmp_path / "skerry.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=r"skerry\.toml"):
        list_allowed_modules(tmp_path)


def test_settings_have_limits(tmp_path):
    assert read_project_limits(tmp_path) == Limits()
    (tmp_path / "skerry.toml").write_text('[rules]\nmax_tuples = 5_000\nmax_seconds = 1.5\nmax_stages = "none"\n')
    assert read_project_limits(tmp_path) == Limits(tuples=5_000, seconds=1.5, stages=math.inf)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("max_tuples = -1", "max_tuples under .rules. is a whole number, or none for no limit, got -1"),
        ("max_tuples = true", "max_tuples under .rules. is a whole number"),
        ("max_stages = 1.5", "max_stages under .rules. is a whole number"),
        ('max_seconds = "soon"', "max_seconds under .rules. is a number of seconds, or none for no limit, got 'soon'"),
        (
            "max_tuple = 3",
            "unknown limit 'max_tuple' under .rules.; known are .*; did you mean 'max_tuples'",
        ),
    ],
)
def test_wrong_limits_are_told(tmp_path, text, told):
    (tmp_path / "skerry.toml").write_text(f"[rules]\n{text}\n")
    with pytest.raises(InputError, match=told):
        read_project_limits(tmp_path)
