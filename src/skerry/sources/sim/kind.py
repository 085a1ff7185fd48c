"""The option that all simulated sources have: which kind they are."""

from dataclasses import replace

from skerry.model.options import OF_EVERY_SOURCE, Option, Owner, one_of

__all__ = ["KIND", "SIM"]

SIM = Owner("connector 'sim'", beside=OF_EVERY_SOURCE)

KIND = Option(
    "kind", replace(one_of("traffic"), expected="'traffic', the only kind there is"), "traffic", "What is simulated."
)
