"""A figure as a picture: one panel per measure, one line per technique."""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from skerry.experiments.figure import Figure, Panel

__all__ = ["draw"]

_MARKERS = "os^Dvx*"
_PANEL_INCHES = (4.2, 3.4)


def draw(figure: Figure, path: Path) -> None:
    """Write a figure as PNG."""
    width, height = _PANEL_INCHES
    canvas = Canvas(figsize=(width * len(figure.panels), height), layout="constrained")
    for axes, panel in zip(canvas.subplots(1, len(figure.panels), squeeze=False)[0], figure.panels, strict=True):
        _draw_panel(axes, figure, panel)
    canvas.suptitle(figure.title)
    canvas.savefig(path, dpi=120, metadata={"Software": None})


def _draw_panel(axes: Axes, figure: Figure, panel: Panel) -> None:
    for number, technique in enumerate(figure.techniques()):
        values, measures = figure.line(technique, panel.measure)
        (line,) = axes.plot(values, measures, marker=_MARKERS[number % len(_MARKERS)], label=technique)
        if panel.low:
            low, high = (figure.line(technique, side)[1] for side in (panel.low, panel.high))
            axes.fill_between(values, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
    if panel.logarithmic and max(figure.table.column(panel.measure).to_pylist()) > 0:
        axes.set_yscale("log", nonpositive="mask")
    else:
        axes.set_ylim(bottom=0)
    axes.set_xlabel(figure.across)
    axes.set_xticks(sorted(set(figure.table.column(figure.across).to_pylist())))
    axes.set_ylabel(panel.label)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
