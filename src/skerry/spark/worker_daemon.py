"""The process that Spark forks its Python workers from, with everything they need loaded once.

Spark's own daemon imports pyspark from a zip file, which has no compiled modules, and every worker
imports the rest anew. Here both are done once, before the fork, and the loaded modules are put out
of sight of the garbage collector, which Spark runs after every task.
"""

import gc
import importlib
import pkgutil
import sys

_LOADED = (
    "pandas",
    "pyspark.worker",
    "pyspark.sql.pandas.serializers",
    "pyspark.sql.streaming.stateful_processor_util",
    "skerry.spark.source",
    "skerry.spark.operate",
    "skerry.spark.foreign",
    "skerry.sources.connectors",
)


def _load() -> None:
    gc.disable()
    sys.path[:] = [path for path in sys.path if not path.endswith("pyspark.zip")]
    for module in _LOADED:
        importlib.import_module(module)
    builders = importlib.import_module("skerry.build")
    for file in pkgutil.iter_modules(builders.__path__, "skerry.build."):
        importlib.import_module(file.name)
    gc.freeze()
    gc.enable()


if __name__ == "__main__":
    _load()
    from pyspark.daemon import manager

    manager()
