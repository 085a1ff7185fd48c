import pickle

from skerry.spark.lazy_pickle import LazyPickle


def test_lazy_pickle_travels_unopened():
    lazy = LazyPickle({"speed": 30})
    lazy.open()
    there = pickle.loads(pickle.dumps(lazy))
    assert {type(part) for part in vars(there).values()} == {str, bytes}
    assert there.open() == {"speed": 30}


def test_lazy_pickle_is_opened_once():
    lazy = LazyPickle([1, 2])
    assert lazy.open() is lazy.open()


def test_all_copies_in_a_process_are_opened_once():
    lazy = LazyPickle([1, 2])
    copies = [pickle.loads(pickle.dumps(lazy)) for _ in range(2)]
    assert copies[0].open() is copies[1].open()
