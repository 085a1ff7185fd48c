"""Where an MQTT broker is, and how to get in: one way to write it, for sources, fleets and discovery alike."""

import re
import ssl
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from skerry.errors import OptionError, SourceError

__all__ = ["BrokerAddress", "check_topic", "make_tls_context", "read_password"]

_PORTS = {"mqtt": 1883, "mqtts": 8883}
_LONGEST_TOPIC = 65_535


@dataclass(frozen=True)
class BrokerAddress:
    """A broker as a URL names it: ``mqtt://host:1883``, or ``mqtts://`` for TLS, perhaps with a name and a password.

    >>> BrokerAddress.parse("mqtt://127.0.0.1")
    BrokerAddress(host='127.0.0.1', port=1883, is_encrypted=False, username=None)
    >>> BrokerAddress.parse("mqtts://ann:s%40cret@broker.example:9000").password
    's@cret'
    >>> BrokerAddress.parse("http://127.0.0.1")
    Traceback (most recent call last):
    ...
    skerry.errors.OptionError: 'http://127.0.0.1' is no address of an MQTT broker; give one such as ...
    """

    host: str
    port: int
    is_encrypted: bool = False
    username: str | None = None
    password: str | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, url: str) -> "BrokerAddress":
        """Read a URL, or say how one is written."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise _refuse(url) from None
        is_plain = parts.path in ("", "/") and not parts.query and not parts.fragment
        if parts.scheme not in _PORTS or not parts.hostname or port == 0 or not is_plain:
            raise _refuse(url)
        username, password = (None if each is None else unquote(each) for each in (parts.username, parts.password))
        return cls(parts.hostname, port or _PORTS[parts.scheme], parts.scheme == "mqtts", username, password)

    def log_in(self, username: str | None, password: str | None) -> "BrokerAddress":
        """The same broker with another name or password, where they are given.

        >>> BrokerAddress.parse("mqtt://ann@broker").log_in(None, "secret").password
        'secret'
        """
        if password is not None and username is None and self.username is None:
            raise OptionError("a password goes with a username")
        return replace(
            self,
            username=self.username if username is None else username,
            password=self.password if password is None else password,
        )

    def __str__(self) -> str:
        """Write it without the name and the password.

        >>> str(BrokerAddress.parse("mqtt://ann:secret@127.0.0.1"))
        'mqtt://127.0.0.1:1883'
        """
        return self._write("")

    @property
    def public_url(self) -> str:
        """It without the password, as a script may say it.

        >>> BrokerAddress.parse("mqtts://a%40b:secret@broker").public_url
        'mqtts://a%40b@broker:8883'
        """
        return self._write("" if self.username is None else f"{quote(self.username, safe='')}@")

    def _write(self, user: str) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'mqtts' if self.is_encrypted else 'mqtt'}://{user}{host}:{self.port}"


def read_password(path: Path, shown: str) -> str:
    """The password in a file, without the line end."""
    try:
        return path.read_text().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise SourceError(f"cannot read password_file {shown!r}: {reason}") from None


def make_tls_context(ca_file: Path | None, shown: str) -> ssl.SSLContext:
    """Whom to trust: the authorities in a file, or those of this machine."""
    try:
        return ssl.create_default_context(cafile=None if ca_file is None else str(ca_file))
    except (OSError, ssl.SSLError) as error:
        raise SourceError(f"cannot read ca_file {shown!r}: {error.strerror or error}") from None


def check_topic(topic: str, meaning: str) -> str:
    """Give a topic back that can be published to, or refuse it.

    >>> check_topic("i80/north", "the prefix")
    'i80/north'
    >>> check_topic("i80/#", "the prefix")
    Traceback (most recent call last):
    ...
    skerry.errors.OptionError: the prefix must be levels between slashes such as 'i80/north', without + # $; got 'i80/#'
    """
    is_level = all(re.fullmatch(r"[^+#\x00-\x1f]+", level) for level in topic.split("/"))
    if not is_level or topic.startswith("$") or len(topic.encode()) > _LONGEST_TOPIC:
        raise OptionError(f"{meaning} must be levels between slashes such as 'i80/north', without + # $; got {topic!r}")
    return topic


def _refuse(url: str) -> OptionError:
    shown = re.sub(r"//.*@", "//...@", url, flags=re.DOTALL)
    return OptionError(
        f"{shown!r} is no address of an MQTT broker; give one such as mqtt://127.0.0.1:1883, or mqtts:// for TLS"
    )
