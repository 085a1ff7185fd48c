"""The options of an MQTT source."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skerry.model.options import OF_EVERY_SOURCE, Option, Owner, one_of, parse_options, text, truth_value, whole_number
from skerry.sensors.broker_address import read_password
from skerry.sources.epoch_times import EVENT_TIME_UNIT

__all__ = ["MQTT_OPTIONS", "MqttOptions"]

_MOST_BYTES = 1 << 28

MQTT_OPTIONS = (
    Option("url", text(), help="The broker.", required=True, example="'mqtt://localhost:1883'"),
    Option("topic", text(), help="A level in braces fills a column.", required=True, example="'i80/{sensor}/data'"),
    Option("encoding", one_of("json", "cbor"), "json", "How messages are written."),
    Option("qos", whole_number(0, 2), "1", "How sure the broker has to be; with 0, messages may be lost."),
    Option("client_id", text(), help="By what name the broker knows this source; by itself, one is made and kept."),
    Option("password_file", text(), help="A file with the password, if the url names a user."),
    Option("ca_file", text(), help="Certificates to trust, for mqtts; by itself, those of this machine."),
    Option("sequence", text(), help="The key of a sensor's own sequence number: it tells doubles."),
    EVENT_TIME_UNIT,
    Option("arrival_time", truth_value(), "false", "Whether a reading without an event time gets that of its arrival."),
    Option("value_column", text(), help="The column that a message fills which is a number or a text by itself."),
    Option("max_message_bytes", whole_number(1, _MOST_BYTES), str(1 << 20), "The longest message."),
)


@dataclass(frozen=True)
class MqttOptions:
    """Where messages come from, and what they look like."""

    url: str
    topic: str
    encoding: str
    qos: int
    client_id: str | None
    password_file: str | None
    ca_file: str | None
    sequence: str | None
    event_time_unit: str | None
    arrival_time: bool
    value_column: str | None
    max_message_bytes: int

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> "MqttOptions":
        """Read options as they stand behind WITH."""
        return cls(**parse_options(options, MQTT_OPTIONS, Owner("connector 'mqtt'", beside=OF_EVERY_SOURCE)))

    def read_password(self, base: Path) -> str | None:
        """The password in the file, without the line end."""
        if self.password_file is None:
            return None
        return read_password(base / self.password_file, self.password_file)
