"""The folder source: ``connector='folder', path='in/*.csv'``."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from skerry.catalog import Source
from skerry.errors import SourceError
from skerry.model.options import OF_EVERY_SOURCE, Option, Owner, parse_options, span_of_time, truth_value
from skerry.model.time import MICROS, Micros
from skerry.sources.file.options import FILE_OPTIONS, FileOptions
from skerry.sources.file.unpack import PACKED, format_suffix
from skerry.sources.folder.watch import FolderReceiving
from skerry.sources.folder.watched_file import FORMATS
from skerry.sources.source import Receiving
from skerry.sources.spool.connector import SpooledConnector
from skerry.sources.spool.decode import Decoder

__all__ = ["FolderConnector"]

_OWN = (
    Option("settle", span_of_time(0, MICROS["DAY"]), "2s", "When a last line without a line end counts as whole."),
    Option("arrival_time", truth_value(), "false", "Whether a reading without an event time gets that of its arrival."),
)

_NO_TIME = Micros(0)


@dataclass(frozen=True)
class FolderConnector(SpooledConnector):
    """Files that match a pattern, now or later. Each line is read once, when it is there to its end.

    A file may grow, be renamed, or be removed once it was read. One that is replaced by another is read from its start.
    """

    OPTIONS: ClassVar[tuple[Option, ...]] = (*FILE_OPTIONS, *_OWN)

    options: FileOptions | None = None
    base: Path = Path()
    settle_us: Micros = _NO_TIME

    @classmethod
    def check(cls, definition: Source) -> None:
        """Check the options."""
        cls.open(definition, Path())

    @classmethod
    def open(cls, definition: Source, base: Path) -> "FolderConnector":
        """Check the options; there need not be a file yet."""
        given = parse_options(definition.options, cls.OPTIONS, Owner("connector 'folder'", beside=OF_EVERY_SOURCE))
        own = {option.name: given.pop(option.name) for option in _OWN}
        options = FileOptions(**given)
        if format_suffix(options.path) not in FORMATS:
            raise SourceError(f"a folder is watched for files with a suffix; {options.path!r} has none of {_KNOWN}")
        decoder = Decoder(definition, None, options.event_time_unit, own["arrival_time"])
        return cls(definition, decoder, options=options, base=base.absolute(), settle_us=own["settle"])

    def receive(self) -> AbstractContextManager[Receiving]:
        """Watch the folder, and fill the spool."""
        assert self.options is not None
        return FolderReceiving(self.definition, self.options, self.base, self._find_folder(), self.settle_us)


_KNOWN = f"{', '.join(FORMATS)}, also with {' or '.join(PACKED)} behind it"
