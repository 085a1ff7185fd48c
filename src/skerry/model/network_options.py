"""What may be said of the network that a source's sensors are motes of, and where a view's rows may meet in it."""

from skerry.model.options import Option, number, text, whole_number

__all__ = ["NETWORK_OPTIONS", "PLACES"]

NETWORK_OPTIONS = (
    Option(
        "topology", text(), help="Who hears whom, as skerry simulate takes it.", required=True, example="'grid:7x7'"
    ),
    Option(
        "base_station", whole_number(0, 10**9), help="The mote that answers go to; the one in the middle if not given."
    ),
    Option("mote_column", text(), help="The column with the number of a reading's mote."),
    Option("link_loss", number(0.0, 1.0), "0", "The probability that a receiver misses a message."),
    Option("link_retries", whole_number(0, 100), "0", "How often a message to one mote is sent again if it was lost."),
    Option("link_seed", whole_number(0, 2**63 - 1), "0", "What losses and delays are drawn from."),
)
"""For sources. A network is simulated by ``--runtime network``; other runtimes need none of this."""

PLACES = ("auto", "server", "tree", "hash", "cluster", "broadcast", "perpendicular")
"""Where the rows of a view may meet in a network; ``auto``: where that takes the least energy."""
