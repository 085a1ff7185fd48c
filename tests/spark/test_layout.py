import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import functions as F

from skerry.spark.layout import Layout, task_of
from skerry.spark.session import session

groups, counts, generations = st.integers(0, 5_000), st.integers(1, 64), st.integers(0, 100)


@given(group=groups, count=counts, generation=generations)
def test_every_bucket_has_a_task_of_its_own(group, count, generation):
    layout = Layout(count, generation)
    assert [task_of((group, layout.address(group, bucket)), count) for bucket in range(count)] == list(range(count))


@given(group=groups, count=counts, generation=generations)
def test_address_leads_back_to_its_bucket(group, count, generation):
    layout = Layout(count, generation)
    assert [layout.bucket(group, layout.address(group, bucket)) for bucket in range(count)] == list(range(count))


@given(group=groups, counts=st.tuples(counts, counts), generation=generations)
def test_no_address_of_one_generation_is_one_of_another(group, counts, generation):
    before, after = Layout(counts[0], generation), Layout(counts[1], generation + 1)
    assert all(after.bucket(group, before.address(group, bucket)) is None for bucket in range(counts[0]))


@pytest.mark.spark
def test_task_of_a_key_is_that_which_spark_finds():
    spark = session("local[2]")
    frame = spark.range(-300, 300).selectExpr("CAST(id * 7919 AS INT) AS grp", "CAST(id * id AS INT) AS bucket")
    rows = frame.select("grp", "bucket", F.expr("pmod(hash(grp, bucket), 7)").alias("task")).collect()
    assert [task_of((row.grp, row.bucket), 7) for row in rows] == [row.task for row in rows]
