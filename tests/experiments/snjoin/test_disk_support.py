from skerry.experiments.snjoin.disk_support import list_makers
from skerry.experiments.snjoin.figure5_complete_join import load_of
from skerry.experiments.snjoin.harness import Settings, measure
from skerry.model.time import seconds

UNHURRIED = Settings(slowdown=0, warm_up_us=0, slice_size=5_000, wait_us=seconds(1))


def test_a_disk_finds_what_memory_has_no_room_for(tmp_path):
    load = load_of(130, 2)
    found = {name: measure(make(2), load, UNHURRIED).content_per_s for name, make in list_makers(tmp_path).items()}
    assert found["no disk"] < 0.7 * found["all in memory"]
    assert 0.8 * found["all in memory"] < found["disk"] <= found["all in memory"]
