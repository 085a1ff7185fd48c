import pickle

from skerry.spark.lazy_pickle import LazyPickle


def test_parcel_travels_unopened():
    parcel = LazyPickle({"speed": 30})
    parcel.open()
    there = pickle.loads(pickle.dumps(parcel))
    assert "_content" not in vars(there)
    assert there.open() == {"speed": 30}


def test_parcel_is_opened_once():
    parcel = LazyPickle([1, 2])
    assert parcel.open() is parcel.open()
