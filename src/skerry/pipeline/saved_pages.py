"""State pages in a file: the way in which runtimes write state down by themselves."""

from collections.abc import Mapping

import pyarrow as pa

from skerry.model.sealed_folder import SealedFolder

__all__ = ["CLOCK", "read_pages", "write_pages"]

CLOCK = "#"
"""The page that says how far the streams have come, which batch left the state so, and whether the view stopped."""

_SCHEMA = pa.schema({"page": pa.string(), "blob": pa.large_binary()})


def write_pages(folder: SealedFolder, name: str, pages: Mapping[str, bytes]) -> int:
    """Write pages down, all or nothing; give how many bytes these are."""
    columns = [pa.array(list(pages), pa.string()), pa.array(list(pages.values()), pa.large_binary())]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, _SCHEMA) as writer:
        writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=_SCHEMA))
    content = sink.getvalue()
    folder.write(name, content)
    return int(content.size)


def read_pages(folder: SealedFolder, name: str) -> dict[str, bytes]:
    """Read them again."""
    table = pa.ipc.open_file(pa.py_buffer(folder.read(name))).read_all()
    return dict(zip(table.column("page").to_pylist(), table.column("blob").to_pylist(), strict=True))
