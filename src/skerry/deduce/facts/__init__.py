"""Facts in files, and answers into files."""

from skerry.deduce.facts.outputs import Outputs, column_names, file_name, write_answers, write_lines
from skerry.deduce.facts.read_facts import Facts, read_facts

__all__ = ["Facts", "Outputs", "column_names", "file_name", "read_facts", "write_answers", "write_lines"]
