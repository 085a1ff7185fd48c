"""The data pipeline on Spark: route, operate, deliver. The only room that knows pyspark."""
