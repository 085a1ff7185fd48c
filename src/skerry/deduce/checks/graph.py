"""What needs what: the parts of a graph that are strongly connected."""

from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["strong_parts"]


def strong_parts(nodes: Iterable[str], needs: Callable[[str], Iterable[str]]) -> list[tuple[str, ...]]:
    """Strongly connected components, each after those that it needs (Tarjan, without recursion).

    >>> strong_parts("abc", {"a": "b", "b": "ac", "c": ""}.get)
    [('c',), ('a', 'b')]
    """
    search = _Search(needs)
    for node in nodes:
        if node not in search.index:
            search.visit(node)
    return search.found


class _Search:
    def __init__(self, needs: Callable[[str], Iterable[str]]) -> None:
        self._needs = needs
        self.index: dict[str, int] = {}
        self._low: dict[str, int] = {}
        self._open: dict[str, None] = {}
        self.found: list[tuple[str, ...]] = []

    def visit(self, root: str) -> None:
        way: list[tuple[str, Iterator[str]]] = [self._enter(root)]
        while way:
            node, waiting = way[-1]
            following = next(waiting, None)
            if following is None:
                way.pop()
                self._leave(node, [above for above, _ in way[-1:]])
            elif following not in self.index:
                way.append(self._enter(following))
            elif following in self._open:
                self._low[node] = min(self._low[node], self.index[following])

    def _enter(self, node: str) -> tuple[str, Iterator[str]]:
        self.index[node] = self._low[node] = len(self.index)
        self._open[node] = None
        return node, iter(self._needs(node))

    def _leave(self, node: str, above: Sequence[str]) -> None:
        for parent in above:
            self._low[parent] = min(self._low[parent], self._low[node])
        if self._low[node] == self.index[node]:
            part = [node]
            while (last := self._open.popitem()[0]) != node:
                part.append(last)
            self.found.append(tuple(sorted(part, key=self.index.__getitem__)))
