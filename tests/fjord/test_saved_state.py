from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.fjord import saved_state
from skerry.fjord.saved_state import Progress, SavedState, ViewClock
from skerry.model.sealed_folder import SealedFolder
from skerry.operators.operator import PageChanges
from skerry.testing.laws import apply_changes

pages = st.dictionaries(st.sampled_from("abcde"), st.binary(max_size=40), max_size=4)
saves = st.lists(st.tuples(st.integers(0, 2), pages, st.sets(st.sampled_from("abcde"))), max_size=8)


def progress(step: int, **failures: str) -> Progress:
    clocks = {number: ViewClock({"road": step}, failures.get(f"view_{number}")) for number in range(3)}
    return Progress({"step": step}, clocks=clocks)


@settings(max_examples=30, deadline=None)
@given(saves=saves, little=st.sampled_from([0, 10_000]))
def test_state_read_again_is_what_the_changes_add_up_to(tmp_path_factory, saves, little):
    folder = SealedFolder(tmp_path_factory.mktemp("state"), "run")
    twin: dict[int, dict[str, bytes]] = {}
    saved_state._LITTLE, before = little, saved_state._LITTLE
    try:
        for step, (view, put, dropped) in enumerate(saves, 1):
            known = {**twin.get(view, {}), **put}
            changes = PageChanges(put, sorted(dropped & known.keys() - put.keys()))
            state = SavedState(folder)  # as after a crash
            state.read()
            state.write(progress(step), {view: changes})
            apply_changes(changes, twin.setdefault(view, {}))
            again = SavedState(folder)
            assert again.read() == {number: each for number, each in twin.items() if each}
            assert again.progress == progress(step)
    finally:
        saved_state._LITTLE = before


def test_base_replaces_what_was_before_it(tmp_path, monkeypatch):
    monkeypatch.setattr(saved_state, "_LITTLE", 0)
    state = SavedState(SealedFolder(tmp_path, "run"))
    for step in range(1, 30):
        state.write(progress(step), {0: PageChanges({"a": bytes(1000)})})
    assert len(list(tmp_path.iterdir())) <= 6


def test_state_of_a_view_that_had_to_stop_is_not_kept(tmp_path):
    state = SavedState(SealedFolder(tmp_path, "run"))
    state.write(progress(1), {0: PageChanges({"a": b"1"}), 1: PageChanges({"a": b"2"})})
    state.write(progress(2, view_0="too much"), {})
    assert SavedState(SealedFolder(tmp_path, "run")).read() == {1: {"a": b"2"}}
