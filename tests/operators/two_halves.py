"""Operators of which a half runs before the shuffle and the other behind it, as one."""

from skerry.operators.operator import Operator


class TwoHalves(Operator):
    """What the second half makes of what the first gives."""

    def __init__(self, first, second):
        self._first, self._second = first, second
        self.schema = second.schema
        self.advance, self.changes, self.note_end = second.advance, second.changes, second.note_end
        self.restore, self.snapshot, self.figures = second.restore, second.snapshot, second.figures
        self.redistribute = second.redistribute

    def transition(self, batch, stream=0):
        return self._second.transition(self._first.transition(batch))
