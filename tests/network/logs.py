"""A program that writes down what it hears, for tests of radios."""

from skerry.network.message import Kind, Message
from skerry.network.network import Network
from skerry.network.radio import RadioSettings
from skerry.network.topology.grid import make_grid


class Log:
    """Keeps (clock, sender, body ...) of every message."""

    def __init__(self, board):
        self.board, self.heard = board, []

    def receive(self, sender, message):
        self.heard.append((self.board.clock, sender, *message.body))


def say(*body):
    return Message(Kind.JOIN, body, 20)


def make_logs(topology=None, seed=1, most_skew_us=0, **settings):
    """A network of three motes in a row, or another, with a log on each."""
    network = Network(topology or make_grid(1, 3), RadioSettings(**settings), seed, most_skew_us)
    return network, network.install(Log)
