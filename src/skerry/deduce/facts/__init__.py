"""Facts in files, and answers into files."""

from skerry.deduce.facts.outputs import Outputs, write_answers
from skerry.deduce.facts.read_facts import Facts, read_facts

__all__ = ["Facts", "Outputs", "read_facts", "write_answers"]
