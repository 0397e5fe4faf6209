"""The colours of the book, and the figures that two chapters share: numbers in, a figure out."""

import io
import sys
from contextlib import contextmanager

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.collections import Collection, QuadMesh
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from pu_utils.data import DATASET_NAMES
from pu_utils.metrics import METRIC_NAMES

# One colour per meaning in the whole book. All are of middle lightness: a white page and a dark one
# both set them off, by a contrast of at least 3.
X_ONLY = "#0072B2"
AUGMENTED = "#D55E00"
LABELLED = "#009E73"
POSITIVE = "#C27C00"
NEGATIVE = "#808080"
# One colour and one mark per method. "+S" has those of its method; a line without S is dashed.
METHOD_STYLES = {
    "VP-B": ("#CC4778", "o"),
    "VP": ("#0F8F96", "^"),
    "VP-IF": ("#5B7FD0", "v"),
    "VP-A3": ("#A0664B", "D"),
    "LBE": ("#6B8E23", "P"),
    "LBE (released)": ("#6B8E23", "p"),
    "EN": ("#B8860B", "*"),
    "EM": ("#8F63C9", "<"),
    "EM told": ("#2F9461", ">"),
    "SAR-EM": ("#607090", "H"),
    "uPU": ("#4F8587", "8"),
    "VP-B recalibrated": ("#C2703D", "o"),
}
METHOD_STYLES |= {f"{name}+S": style for name, style in METHOD_STYLES.items()}
METHOD_STYLES |= {
    "LBE+S (released)": METHOD_STYLES["LBE (released)"],
    "S-Prophet": ("#777777", "d"),
    "Y-Prophet": ("#777777", "h"),
    "VP-B+S + true y(x)": ("#5B7FD0", "v"),
    "VP-B+S + true s(x)": ("#B8860B", "D"),
    "supervised": ("#607090", "s"),
    "all-negative": ("#9A7B5B", "X"),
}
STYLE = {
    "figure.dpi": 130, "font.size": 10, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "grid.alpha": 0.3, "lines.linewidth": 2, "legend.frameon": False,
    "legend.fontsize": 9, "figure.constrained_layout.use": True,
}  # fmt: skip
GRID_STYLE = STYLE | {"figure.constrained_layout.use": False}  # seaborn arranges its grids itself
CROWD = 400  # a scatter of more points than this is drawn as pixels, which weigh less
SMALL_MULTIPLES = {"col_wrap": 2, "height": 2.3, "aspect": 1.5}  # wide enough on a telephone
ABOVE = {"loc": "lower center", "bbox_to_anchor": (0.5, 1)}  # where a legend covers nothing
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
    figure : Figure, or anything of matplotlib or seaborn that has one
        It is closed, so that a notebook does not show it a second time.
    """
    figure = figure if isinstance(figure, Figure) else figure.figure
    for artist in figure.findobj(Collection):
        shaded = isinstance(artist, QuadMesh) or getattr(artist, "filled", False)  # filled contours
        artist.set_rasterized(shaded or len(artist.get_offsets()) > CROWD)
    drawn = io.StringIO()
    with plt.rc_context({"svg.fonttype": "path", "svg.hashsalt": "the same at every run"}):
        metadata = {"Date": None, "Creator": None}
        figure.savefig(drawn, format="svg", bbox_inches="tight", dpi=200, metadata=metadata)
    plt.close(figure)
    return drawn.getvalue()


def show_as_svg(shell):
    """Let a notebook show figures, axes and seaborn's grids by :func:`as_svg`, in the book's style.

    Parameters
    ----------
    shell : InteractiveShell
        What ``get_ipython()`` gives.
    """
    import matplotlib_inline.backend_inline  # noqa: F401  asks for PNG when first imported: not later

    formatters = shell.display_formatter.formatters
    for formatter in formatters.values():
        formatter.pop(Figure, None)
    for kind in (Figure, Axes, sns.axisgrid.Grid):
        formatters["image/svg+xml"].for_type(kind, as_svg)
    plt.rcParams.update(GRID_STYLE)


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


def bars(values, xlabel, reference=None):
    """Horizontal bars, one a name.

    Parameters
    ----------
    values : dict of str to float
        Their lengths.
    xlabel : str
    reference : pair (float, str), optional
        Where a vertical line stands, and what it means.
    """
    values = pd.Series(values)
    with new_figure(figsize=(7, 0.38 * len(values) + 0.9)) as (figure, axes):
        values.plot.barh(ax=axes, width=0.8, color=AUGMENTED, alpha=0.75)
        axes.bar_label(axes.containers[0], fmt="%.2f", padding=3, fontsize=8)
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.set(xlabel=xlabel, xlim=(0, 1.12 * values.max()))
        if reference is not None:
            axes.axvline(reference[0], color="black", ls="--", lw=1, label=reference[1])
            axes.legend(**ABOVE)
    return figure


def against_frequency(comparison, table, methods):
    """Published bands and our means, both ± 2 standard errors, against c, a panel per data set.

    Parameters
    ----------
    comparison : DataFrame
        What :func:`pu_utils.reproduction.compare` gives.
    table : str
        "table1" to "table5", "tableA2" to "tableA5".
    methods : sequence of str
        Methods of the table. Those asked without S have hollow marks and dashed bands.
    """
    rows = comparison[(comparison["table"] == table) & comparison["method"].isin(methods)]
    rows = rows.replace({"dataset": DATASET_NAMES}).sort_values("label_frequency", kind="stable")
    colours, marks = zip(*(METHOD_STYLES[name] for name in methods), strict=True)
    labels = "label frequency c", f"{METRIC_NAMES[rows['metric'].iloc[0]]} (%)"
    of_methods = {"hue_order": methods, "palette": colours, "hue_kws": {"marker": marks}}
    band = Patch(color=NEGATIVE, alpha=0.25, label="published, ± 2 standard errors")
    of_methods |= {"hue": "method", "col_order": rows["dataset"].unique(), "sharey": False}
    return _panels(rows, _published_and_ours, labels, [band], **of_methods)


def _panels(rows, draw, labels, more=(), **options):
    """A panel per data set, with one legend above them all."""
    with plt.rc_context(GRID_STYLE):
        grid = sns.FacetGrid(rows, col="dataset", **SMALL_MULTIPLES, **options)
        grid.map_dataframe(draw).set_titles("{col_name}").set_axis_labels(*labels)
        handles = [*grid.axes[0].get_legend_handles_labels()[0], *more]
        grid.figure.legend(handles=handles, **ABOVE, ncols=3)
    plt.close(grid.figure)  # a notebook shows it once, as what the cell gives
    return grid.figure


def _published_and_ours(data, color, label, marker):
    c, error = data["label_frequency"], 2 * data["published_se"]
    with_s = "+S" in label or label == "S-Prophet"
    outline = {"lw": 0} if with_s else {"lw": 1, "ls": "--"}
    low, high = data["published"] - error, data["published"] + error
    plt.fill_between(c, low, high, color=color, alpha=0.25, **outline)
    mark = {"fmt": marker, "color": color, "mfc": color if with_s else "none", "ms": 5, "lw": 1}
    plt.errorbar(c, data["ours"], 2 * data["ours_se"].fillna(0), label=label, **mark)


def gains(table, published):
    """Gains with their 95% intervals, filled where significant, beside the published ones.

    Parameters
    ----------
    table : DataFrame
        What :func:`pu_utils.reproduction.paired` gives.
    published : Series
        The published gains, by data set and label frequency.
    """
    rows = table.assign(published=published).reset_index().replace({"dataset": DATASET_NAMES})
    return _panels(rows, _gains, ("gain of the rule, points", "label frequency c"))


def _gains(data, color):
    where = data["label_frequency"].astype(str)
    plt.axvline(0, color=NEGATIVE, lw=1)
    plt.hlines(where, data["low"], data["high"], color=X_ONLY, lw=1.5, label="ours, 95% interval")
    fill = np.where(data["side"] == "open", "white", X_ONLY)
    dots = {"c": fill, "edgecolor": X_ONLY, "s": 26, "zorder": 3, "label": "filled: significant"}
    plt.scatter(data["mean"], where, **dots)
    beside = {"marker": "|", "color": AUGMENTED, "s": 60, "zorder": 4, "label": "published"}
    plt.scatter(data["published"], where, **beside)
    plt.xscale("symlog", linthresh=1)
    plt.xticks([-3, -1, 0, 1, 3, 10], [-3, -1, 0, 1, 3, 10])
