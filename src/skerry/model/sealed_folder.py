"""Files that a later process can trust: each ends in a checksum, with the run that it belongs to.

    {"bucket_count": 2, ...}
    skerry-1 9f86d081884c7d65...  4c0f2e61...

The checksum is over the file's name, the run and the content: a file that was cut short, changed, taken from another
run or put under another name does not pass.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from skerry.errors import CheckpointError, RunError
from skerry.model.atomic_write import write_atomically

__all__ = ["SealedFolder"]

_SEAL = re.compile(rb"\nskerry-1 ([0-9a-f]{64}) (\S*)\n\Z")
_LONGEST_SEAL = 256


@dataclass(frozen=True)
class SealedFolder:
    """The files of one run in a folder. Picklable.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     SealedFolder(Path(folder), "run-7").write("progress.json", b"{}")
    ...     SealedFolder(Path(folder), "run-7").read("progress.json")
    b'{}'
    """

    path: Path
    run: str = ""
    synced: bool = False
    """Whether a file must outlive a loss of power once it is written."""

    def file(self, name: str) -> Path:
        """Where a file is."""
        return self.path / name

    def write(self, name: str, content: bytes | pa.Buffer) -> None:
        """Replace a file, whole or not at all."""
        content = bytes(content)
        seal = f"\nskerry-1 {self._digest(name, content)} {self.run}\n".encode()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            write_atomically(self.file(name), content + seal, synced=self.synced)
        except OSError as error:
            raise RunError(f"cannot write the checkpoint file {str(self.file(name))!r}: {error.strerror}") from None

    def read(self, name: str) -> bytes:
        """What was written under a name; ``CheckpointError`` if it is not there any more as it was written."""
        path = self.file(name)
        try:
            found = path.read_bytes()
        except FileNotFoundError:
            raise CheckpointError(str(path), "is missing") from None
        except OSError as error:
            raise RunError(f"cannot read the checkpoint file {str(path)!r}: {error.strerror}") from None
        seal = _SEAL.search(found, max(0, len(found) - _LONGEST_SEAL))
        if seal is None:
            raise CheckpointError(str(path), "is damaged: it does not end in a checksum")
        if seal[2] != self.run.encode():
            raise CheckpointError(str(path), "belongs to another run")
        content = found[: seal.start()]
        if seal[1].decode() != self._digest(name, content):
            raise CheckpointError(str(path), "is damaged: its checksum does not match")
        return content

    def _digest(self, name: str, content: bytes) -> str:
        digest = hashlib.sha256(f"{name}\n{self.run}\n".encode())
        digest.update(content)
        return digest.hexdigest()
