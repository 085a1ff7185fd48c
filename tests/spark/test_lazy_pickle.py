import pickle

from skerry.spark.lazy_pickle import Parcel


def test_parcel_travels_unopened():
    parcel = Parcel({"speed": 30})
    parcel.open()
    there = pickle.loads(pickle.dumps(parcel))
    assert "_content" not in vars(there)
    assert there.open() == {"speed": 30}


def test_parcel_is_opened_once():
    parcel = Parcel([1, 2])
    assert parcel.open() is parcel.open()
