"""Facts in files, and answers into files."""

from skerry.deduce.facts.outputs import Outputs, file_name, write_answers
from skerry.deduce.facts.read_facts import Facts, read_facts

__all__ = ["Facts", "Outputs", "file_name", "read_facts", "write_answers"]
