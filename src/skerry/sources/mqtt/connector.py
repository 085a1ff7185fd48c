"""The MQTT source: ``connector='mqtt', url='mqtt://host:1883', topic='i80/{sensor}/data'``."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from skerry.catalog import Source
from skerry.errors import OptionError
from skerry.model.options import Option
from skerry.sensors.broker_address import BrokerAddress
from skerry.sources.mqtt.client import MqttReceiving
from skerry.sources.mqtt.options import MQTT_OPTIONS, MqttOptions
from skerry.sources.mqtt.topic import Topic
from skerry.sources.source import Receiving
from skerry.sources.spool.connector import SpooledConnector
from skerry.sources.spool.decode import Decoder
from skerry.sources.spool.doubles import Identity

__all__ = ["MqttConnector"]


@dataclass(frozen=True)
class MqttConnector(SpooledConnector):
    """Messages of a broker. Each is acknowledged when its readings are on disk, in the spool.

    The broker keeps messages for a client that it knows while that is away: so a run that goes on from its checkpoint
    misses none, and one without a checkpoint begins with what comes after its start.
    """

    OPTIONS: ClassVar[tuple[Option, ...]] = MQTT_OPTIONS
    starts_over = False

    options: MqttOptions | None = None
    base: Path = Path()

    @classmethod
    def check(cls, definition: Source) -> None:
        """Check the options; the broker is not asked."""
        cls.open(definition, Path())

    @classmethod
    def open(cls, definition: Source, base: Path) -> "MqttConnector":
        """Check the options. The broker is called when the run begins."""
        options = MqttOptions.parse(definition.options)
        if BrokerAddress.parse(options.url).username is None and options.password_file is not None:
            raise OptionError("password_file goes with a user: name one in the url, as in 'mqtt://USER@HOST'")
        topic = Topic.parse(options.topic)
        for column in topic.columns:
            if column not in definition.stored_schema.names:
                known = ", ".join(definition.stored_schema.names)
                raise OptionError(f"topic {options.topic!r} fills {column!r}, which is no column; there are {known}")
        if options.value_column is not None and options.value_column not in definition.stored_schema.names:
            known = ", ".join(definition.stored_schema.names)
            raise OptionError(f"value_column {options.value_column!r} is no column; there are {known}")
        decoder = Decoder(definition, topic.pattern, options.event_time_unit, options.arrival_time)
        return cls(definition, decoder, options=options, base=base.absolute())

    @property
    def exclusive(self) -> str | None:
        """A name that was asked for: who logs in by it puts out whoever is in."""
        assert self.options is not None
        name, address = self.options.client_id, BrokerAddress.parse(self.options.url)
        return None if name is None else f"client_id {name!r} at {address}"

    def receive(self) -> AbstractContextManager[Receiving]:
        """Subscribe, and fill the spool."""
        assert self.options is not None
        folder, identity = self._find_folder(), self._identity()
        return MqttReceiving(self.definition.name, self.options, self.base, folder, identity, is_kept=self.is_kept)

    def _identity(self) -> Identity:
        assert self.options is not None
        names, topic = self.definition.stored_schema.names, Topic.parse(self.options.topic)
        sensor = "sensor" if "sensor" in names and "sensor" not in topic.columns else None
        moment = self.definition.event_time if self.definition.event_time in names else None
        is_anonymous = "sensor" not in names and len(topic.columns) != 1
        return Identity(self.options.sequence, moment, sensor, is_anonymous)
