"""The palette of the book, and the figures that two chapters share: numbers in, a figure out."""

import io
import sys
from contextlib import contextmanager

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.collections import Collection, QuadMesh
from matplotlib.figure import Figure

from pu_utils.data import DATASET_NAMES
from pu_utils.metrics import METRIC_NAMES

# One colour per meaning in the whole book, told apart by every kind of colour vision (Okabe, Ito).
X_ONLY = "#0072B2"
AUGMENTED = "#D55E00"
LABELLED = "#009E73"
POSITIVE = "#E69F00"
NEGATIVE = "#999999"
COLOURS = [AUGMENTED, X_ONLY, LABELLED, POSITIVE, NEGATIVE]
TITLES = DATASET_NAMES
# One colour and one mark per method and per data set, wherever they are drawn
METHOD_STYLES = {
    "VP-B+S": (AUGMENTED, "o"),
    "VP-B": (X_ONLY, "s"),
    "VP": ("#56B4E9", "^"),
    "VP+S": ("#56B4E9", "^"),
    "VP-IF": ("#CC79A7", "v"),
    "VP-A3": (POSITIVE, "D"),
    "LBE+S": (LABELLED, "P"),
    "LBE+S (released)": (LABELLED, "P"),
    "EN": ("#6A3D9A", "*"),
    "EN+S": ("#6A3D9A", "*"),
    "S-Prophet": ("#000000", "d"),
    "Y-Prophet": ("#555555", "h"),
    "VP-B+S + true y(x)": ("#CC79A7", "v"),
    "VP-B+S + true s(x)": (POSITIVE, "D"),
    "EM": ("#882255", "<"),
    "EM+S": ("#882255", "<"),
    "EM told+S": ("#117733", ">"),
    "all-negative": (NEGATIVE, "X"),
}
SET_STYLES = [
    (AUGMENTED, "o"), (X_ONLY, "s"), (LABELLED, "^"), (POSITIVE, "D"), ("#CC79A7", "v"),
    (NEGATIVE, "X"),
]  # fmt: skip
STYLE = {
    "figure.dpi": 130,
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "lines.linewidth": 2,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "figure.constrained_layout.use": True,
}
CROWD = 400  # a scatter of more points than this is drawn as pixels, which weigh less
PHOTOGRAPH = "photograph"  # the mark of what a dark page must not turn into its negative


@contextmanager
def new_figure(*args, **kwargs):
    """A figure and its axes in the book's style, closed so that a notebook shows it once."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(*args, **kwargs)
        yield figure, axes
        plt.close(figure)


def as_svg(figure):
    """The figure as SVG: sharp at every size, and the same bytes whenever it is drawn.

    Letters are drawn as shapes, since a reader's machine may lack their typeface.

    Parameters
    ----------
    figure : Figure
    """
    for artist in figure.findobj(Collection):
        shaded = isinstance(artist, QuadMesh) or getattr(artist, "filled", False)  # filled contours
        artist.set_rasterized(shaded or len(artist.get_offsets()) > CROWD)
    drawn = io.StringIO()
    with plt.rc_context({"svg.fonttype": "path", "svg.hashsalt": "the same at every run"}):
        metadata = {"Date": None, "Creator": None}
        figure.savefig(drawn, format="svg", bbox_inches="tight", dpi=200, metadata=metadata)
    return drawn.getvalue()


def show_as_svg(shell):
    """Let a notebook show every figure by :func:`as_svg`, and in no other form.

    Parameters
    ----------
    shell : InteractiveShell
        What ``get_ipython()`` gives.
    """
    import matplotlib_inline.backend_inline  # noqa: F401  asks for PNG when first imported: not later

    formatters = shell.display_formatter.formatters
    for formatter in formatters.values():
        formatter.pop(Figure, None)
    formatters["image/svg+xml"].for_type(Figure, as_svg)


if "IPython" in sys.modules and (notebook := sys.modules["IPython"].get_ipython()):
    show_as_svg(notebook)


def image_strips(strips):
    """Rows of small images, each with a title above it.

    Parameters
    ----------
    strips : dict
        Title of each row and its images, (n, height, width) or (n, height, width, 3).
    """
    with new_figure(len(strips), 1, figsize=(7, 1.15 * len(strips))) as (figure, axes):
        for ax, (title, images) in zip(np.atleast_1d(axes), strips.items(), strict=True):
            ax.imshow(np.concatenate(list(images), axis=1), cmap="gray_r", gid=PHOTOGRAPH)
            ax.set_title(title, loc="left", fontsize=10)
            ax.axis("off")
    return figure


def panels(curves, xlabel, ylabel, ylim=None):
    """Small multiples: one panel a title, in each one or more labelled lines.

    Labels that all panels share are explained once, above them.

    Parameters
    ----------
    curves : dict
        ``{title: {label: (x, y)}}``.
    xlabel, ylabel : str
    ylim : pair of float, optional
    """
    styles = [(AUGMENTED, "-"), (X_ONLY, "--"), (LABELLED, "-."), ("black", ":")]
    columns = min(3, len(curves))
    rows = -(-len(curves) // columns)
    shared = len({tuple(lines) for lines in curves.values()}) == 1
    with new_figure(rows, columns, figsize=(7.5, 2.5 * rows), squeeze=False) as (figure, axes):
        for ax, (title, lines) in zip(axes.flat, curves.items(), strict=False):
            for (label, (x, y)), (colour, style) in zip(lines.items(), styles, strict=False):
                ax.plot(x, y, color=colour, ls=style, label=label)
            ax.set(title=title, ylim=ylim)
            if len(lines) > 1 and not shared:
                ax.legend()
        for ax in axes.flat[len(curves) :]:
            ax.axis("off")
        if shared and len(lines) > 1:
            handles, labels = axes.flat[0].get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
        figure.supxlabel(xlabel, fontsize=10)
        figure.supylabel(ylabel, fontsize=10)
    return figure


def bars(values, xlabel, reference=None):
    """Horizontal bars, one a name, or a cluster a row of a table with one colour a column.

    Parameters
    ----------
    values : dict or DataFrame
        Lengths of the bars: of each name, or in a table.
    xlabel : str
    reference : pair (float, str), optional
        Where a vertical line stands, and what it means.
    """
    table = values if isinstance(values, pd.DataFrame) else pd.Series(values).to_frame("")
    clustered = len(table.columns) > 1
    size = (7, (0.28 if clustered else 0.38) * table.size + 0.9)
    with new_figure(figsize=size) as (figure, axes):
        table.plot.barh(ax=axes, width=0.8, color=COLOURS, alpha=0.75, legend=False)
        for drawn in axes.containers:
            axes.bar_label(drawn, fmt="%.2f", padding=3, fontsize=8)
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.set(xlabel=xlabel, xlim=(0, 1.12 * table.max(axis=None)))
        if reference is not None:
            axes.axvline(reference[0], color="black", ls="--", lw=1, label=reference[1])
        if reference is not None or clustered:
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=5)
    return figure


def against_frequency(comparison, table, methods):
    """Published bands (± 2 standard errors) and our means against c, one panel per data set.

    Parameters
    ----------
    comparison : DataFrame
        What :func:`pu_utils.reproduction.tables.compare` gives.
    table : str
        "table1" to "table5", "tableA2" to "tableA5".
    methods : sequence of str
        Methods of the table.
    """
    rows = comparison[(comparison["table"] == table) & comparison["method"].isin(methods)]
    names = list(dict.fromkeys(rows["dataset"]))
    n_columns = 2 if len(names) == 4 else 3
    n_rows = -(-len(names) // n_columns)
    size = (7.5, 2.5 * len(names) / n_columns + 0.6)
    with new_figure(n_rows, n_columns, figsize=size, sharex=True) as (figure, axes):
        for ax, name in zip(axes.flat, names, strict=True):
            _frequency_panel(ax, rows[rows["dataset"] == name], methods)
            ax.set_title(TITLES.get(name, name))
        for ax in axes[-1]:
            ax.set_xlabel("label frequency c")
        for ax in axes[:, 0]:
            ax.set_ylabel(f"{METRIC_NAMES[rows['metric'].iloc[0]]} (%)", fontsize=8)
        handles, labels = axes.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8)
    return figure


def _frequency_panel(ax, rows, methods):
    """Bands and marks of one data set; says so where nothing of ours is there."""
    for method in methods:
        colour, marker = METHOD_STYLES.get(method, ("black", "o"))
        line = rows[rows["method"] == method].sort_values("label_frequency")
        c, low = line["label_frequency"], line["published"] - 2 * line["published_se"]
        high = line["published"] + 2 * line["published_se"]
        ax.fill_between(c, low, high, color=colour, alpha=0.25, lw=0)
        ax.errorbar(
            c, line["ours"], 2 * line["ours_se"].fillna(0), fmt=marker, color=colour, ms=4,
            lw=1, label=method,
        )  # fmt: skip
    if rows["ours"].isna().all():
        ax.text(0.5, 0.05, "not run by us", transform=ax.transAxes, ha="center")


def gains(table, published):
    """Gains with their 95% intervals, filled where they are sure, and the published ones.

    Parameters
    ----------
    table : DataFrame
        What :func:`pu_utils.reproduction.tables.paired` gives.
    published : Series
        The published gains, by data set and label frequency.
    """
    names = list(dict.fromkeys(table.index.get_level_values("dataset")))
    frequencies = sorted(set(table.index.get_level_values("label_frequency")))
    with new_figure(figsize=(7, 0.85 * len(frequencies) + 1)) as (figure, axes):
        for k, (name, (colour, marker)) in enumerate(zip(names, SET_STYLES, strict=False)):
            rows = table.loc[name]
            where = [frequencies.index(c) + 0.15 * (k - (len(names) - 1) / 2) for c in rows.index]
            axes.hlines(where, rows["low"], rows["high"], color=colour, lw=1.5)
            fill = ["white" if side == "open" else colour for side in rows["side"]]
            dots = {"marker": marker, "edgecolor": colour, "zorder": 3, "s": 26}
            axes.scatter(rows["mean"], where, facecolor=fill, **dots)
            axes.scatter([], [], facecolor=colour, label=TITLES.get(name, name), **dots)
            beside = published.loc[name].reindex(rows.index)
            axes.scatter(beside, where, marker="|", color="black", s=40, zorder=4)
        axes.scatter([], [], marker="|", color="black", s=40, label="published")
        axes.axvline(0, color="black", lw=1)
        axes.set_yticks(range(len(frequencies)), [f"c = {c}" for c in frequencies])
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.set_xscale("symlog", linthresh=1)
        axes.set_xticks([-3, -1, -0.5, 0, 0.5, 1, 3, 10, 20])
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_xlabel("U-accuracy with the rule minus without, points")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
    return figure
