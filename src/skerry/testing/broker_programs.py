"""The MQTT brokers that can be started here: which program, with which configuration."""

import base64
import getpass
import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from skerry.errors import SetupError

__all__ = ["AmqttProgram", "BrokerProgram", "BrokerWishes", "MosquittoProgram", "find_program"]

_HOST = "127.0.0.1"
_INSTALL = "install it with: sudo apt-get install mosquitto (or brew install mosquitto, or pip install amqtt)"
_CERTIFICATE_REQUEST = """[req]
prompt = no
distinguished_name = name
x509_extensions = extensions
[name]
CN = localhost
[extensions]
basicConstraints = critical, CA:TRUE
keyUsage = critical, digitalSignature, keyCertSign
subjectKeyIdentifier = hash
subjectAltName = IP:127.0.0.1, DNS:localhost
"""


@dataclass(frozen=True)
class BrokerWishes:
    """What a broker is to be like. ``save_every_s`` is how often it writes its sessions and messages to disk."""

    username: str | None = None
    password: str | None = None
    is_encrypted: bool = False
    save_every_s: int | None = None


class BrokerProgram(Protocol):
    """A program that is a broker. ``says_when_ready`` is what it writes to its output once it listens."""

    @property
    def says_when_ready(self) -> str: ...  # noqa: D102

    def configure(self, folder: Path, port: int, wishes: BrokerWishes) -> list[str]:
        """Write its configuration into a folder, and give the command that starts it."""
        ...


@dataclass(frozen=True)
class MosquittoProgram:
    """Mosquitto: sessions and messages of QoS 1 survive a restart, since it writes them to the folder when it stops."""

    path: str
    says_when_ready: str = " running"

    def configure(self, folder: Path, port: int, wishes: BrokerWishes) -> list[str]:
        """Write the file ``mosquitto.conf`` and what it names."""
        lines = [f"listener {port} {_HOST}", "persistence true", f"persistence_location {folder}/"]
        # A fleet and a source that was away for a while need more than the thousand messages that it keeps by default.
        lines += ["max_inflight_messages 0", "max_queued_messages 0", "set_tcp_nodelay true"]
        lines += ["log_dest stderr", "log_type error", "log_type warning", "log_type notice", "log_type information"]
        lines += [f"autosave_interval {wishes.save_every_s}"] if wishes.save_every_s is not None else []
        lines += [f"user {getpass.getuser()}"] if os.getuid() == 0 else []  # root would become somebody else
        lines += self._configure_password(folder, wishes) + self._configure_encryption(folder, wishes)
        (folder / "mosquitto.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return [self.path, "-c", str(folder / "mosquitto.conf")]

    def _configure_password(self, folder: Path, wishes: BrokerWishes) -> list[str]:
        if wishes.username is None:
            return ["allow_anonymous true"]
        path = folder / "passwords"
        path.touch(mode=0o600)
        path.write_text(f"{wishes.username}:{_hash(wishes.password or '')}\n", encoding="utf-8")
        return ["allow_anonymous false", f"password_file {path}"]

    def _configure_encryption(self, folder: Path, wishes: BrokerWishes) -> list[str]:
        if not wishes.is_encrypted:
            return []
        if not (folder / "certificate.pem").exists():
            _make_certificate(folder)
        return [f"certfile {folder / 'certificate.pem'}", f"keyfile {folder / 'key.pem'}"]


@dataclass(frozen=True)
class AmqttProgram:
    """The broker of the package amqtt, in a process of its own. It keeps nothing over a restart."""

    says_when_ready: str = ""

    def configure(self, folder: Path, port: int, wishes: BrokerWishes) -> list[str]:
        """Write the file ``amqtt.yaml``."""
        if wishes.username is not None or wishes.is_encrypted:
            raise SetupError(f"a broker with a password or TLS has to be mosquitto, which is missing; {_INSTALL}")
        listener = f"listeners:\n  default:\n    type: tcp\n    bind: {_HOST}:{port}\n"
        text = f"{listener}auth:\n  allow-anonymous: true\n  plugins: [auth_anonymous]\n"
        (folder / "amqtt.yaml").write_text(text, encoding="utf-8")
        start = "from amqtt.scripts.broker_script import main; main()"
        return [sys.executable, "-c", start, "-c", str(folder / "amqtt.yaml")]


def find_program() -> BrokerProgram:
    """Give the broker that is installed here, mosquitto first, or say what to install."""
    # Debian has it where only root's PATH leads.
    searched = os.pathsep.join(
        [os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/sbin"]
    )
    path = shutil.which("mosquitto", path=searched)
    if path:
        return MosquittoProgram(path)
    if find_spec("amqtt"):
        return AmqttProgram()
    raise SetupError(f"there is no MQTT broker on this machine: neither mosquitto nor the package amqtt; {_INSTALL}")


def _hash(password: str) -> str:
    """Hash a password as mosquitto's files of passwords have it: PBKDF2 of SHA-512, with salt."""
    salt, rounds = os.urandom(12), 1000
    digest = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, rounds, 64)
    return f"$7${rounds}${base64.b64encode(salt).decode()}${base64.b64encode(digest).decode()}"


def _make_certificate(folder: Path) -> None:
    """Make a key and a certificate that vouches for itself; a client names it as the authority it trusts."""
    openssl = shutil.which("openssl")
    if openssl is None:
        raise SetupError("a broker with TLS needs a certificate, and openssl is missing: sudo apt-get install openssl")
    request = folder / "certificate.conf"
    request.write_text(_CERTIFICATE_REQUEST, encoding="utf-8")
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", str(folder / "key.pem")]
    made = ["-x509", "-days", "30", "-config", str(request), "-out", str(folder / "certificate.pem")]
    done = subprocess.run([openssl, "req", *key, *made], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SetupError("openssl makes no certificate:", done.stderr[-500:])
