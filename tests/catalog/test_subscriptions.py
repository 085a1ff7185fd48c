import pytest

from skerry.catalog import Catalog, Subscription, SubscriptionChange
from skerry.errors import CatalogError

Q1, Q2 = Subscription("q1", "road", "speed < 30"), Subscription("q2", "sea", "wave > 2", "alarms")


@pytest.fixture
def subscriptions():
    return Catalog.in_memory().subscriptions


def test_subscriptions_are_kept_by_name(subscriptions):
    subscriptions.add([Q2, Q1])
    assert subscriptions.all() == [Q1, Q2]
    assert subscriptions.all("sea") == [Q2]
    assert subscriptions.find(["q2", "q3"]) == [Q2]


def test_every_change_is_in_the_log(subscriptions):
    subscriptions.add([Q1, Q2])
    subscriptions.remove(["q1"])
    subscriptions.add([Q1])
    expected = [(1, Q1, False), (2, Q2, False), (3, Q1, True), (4, Q1, False)]
    assert subscriptions.since(0) == [SubscriptionChange(*change) for change in expected]
    assert subscriptions.since(3) == [SubscriptionChange(4, Q1)]
    assert subscriptions.version == 4


def test_many_come_and_go_together(subscriptions):
    many = [Subscription(f"q{number:04}", "road", "speed < 30") for number in range(1_200)]
    subscriptions.add(many)
    subscriptions.remove([each.id for each in many[:1_100]])
    assert subscriptions.all() == many[1_100:]


@pytest.mark.parametrize(("added", "name"), [([Q1], "q1"), ([Q2, Q2], "q2")])
def test_name_that_is_taken_is_told(subscriptions, added, name):
    subscriptions.add([Q1])
    with pytest.raises(CatalogError, match=f"there is a subscription '{name}' already"):
        subscriptions.add(added)


def test_what_is_not_there_cannot_be_removed(subscriptions):
    subscriptions.add([Q1])
    with pytest.raises(CatalogError, match="there is no subscription 'q9'"):
        subscriptions.remove(["q1", "q9"])
    assert subscriptions.all() == [Q1]


def test_another_process_sees_changes(tmp_path):
    one, other = Catalog.of_project(tmp_path), Catalog.of_project(tmp_path)
    assert other.subscriptions.version == 0
    with one.all_or_nothing():
        one.subscriptions.add([Q1])
    assert other.subscriptions.since(0) == [SubscriptionChange(1, Q1)]


def test_batches_say_which_version_they_saw(subscriptions):
    for run, batch, version in [("one", 7, 3), ("one", 2, 1), ("other", 2, 9), ("one", 7, 4)]:
        subscriptions.note_batch(run, batch, version)
    assert subscriptions.batches("one") == [(2, 1), (7, 4)]
