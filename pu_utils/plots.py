"""Every figure of the book as one function: numbers in, a matplotlib figure out."""

from contextlib import contextmanager

import matplotlib.pyplot as plt
import numpy as np

from pu_utils.tables import DATASET_NAMES, METRIC_NAMES

# One colour per meaning in the whole book, told apart by every kind of colour vision (Okabe, Ito).
X_ONLY = "#0072B2"
AUGMENTED = "#D55E00"
LABELLED = "#009E73"
POSITIVE = "#E69F00"
NEGATIVE = "#999999"
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
    "all-negative": (NEGATIVE, "x"),
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


@contextmanager
def _figure(*args, **kwargs):
    """A figure and its axes in the book's style, closed so that a notebook shows it once."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(*args, **kwargs)
        yield figure, axes
        plt.close(figure)


def patients_by_age(age, y, s):
    """Counts of healthy, silently ill and reported patients per five years of age.

    Parameters
    ----------
    age, y, s : arrays
        One entry per patient: age in years, class (0 or 1), label status (0 or 1).
    """
    groups = {
        "healthy (Y=0, S=0)": (y == 0, NEGATIVE, ""),
        "ill and silent (Y=1, S=0)": ((y == 1) & (s == 0), POSITIVE, "//"),
        "reported (Y=1, S=1)": (s == 1, LABELLED, ".."),
    }
    with _figure(figsize=(7, 3.4)) as (figure, axes):
        _, _, bars = axes.hist(
            [age[rows] for rows, _, _ in groups.values()],
            bins=np.arange(20, 95, 5),
            stacked=True,
            color=[colour for _, colour, _ in groups.values()],
            label=list(groups),
            edgecolor="white",
        )
        for container, (_, _, hatch) in zip(bars, groups.values(), strict=True):
            for bar in container:
                bar.set_hatch(hatch)
        axes.set(xlabel="age", ylabel="patients")
        axes.legend(reverse=True, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1))
    return figure


def two_thresholds(x, y, s, xlabel="x"):
    """The curve y(x), both thresholds, and the stretch of x on which the rules disagree.

    Parameters
    ----------
    x, y, s : arrays
        A grid of x and the two posteriors on it.
    """
    threshold = (1 + s) / 2
    with _figure(figsize=(7, 3.8)) as (figure, axes):
        axes.plot(x, y, color="black", label="y(x), posterior of class 1")
        axes.plot(x, s, color=LABELLED, ls="-.", label="s(x), probability of a label")
        axes.axhline(0.5, color=X_ONLY, ls="--", label="1/2, threshold of the x-only rule")
        axes.plot(x, threshold, color=AUGMENTED, ls=":", label="(1+s(x))/2, augmented threshold")
        differ = (y > 0.5) & (y <= threshold)
        axes.fill_between(x, 0, 1, where=differ, color=AUGMENTED, alpha=0.15)
        axes.text(x[differ].mean(), 0.03, "rules\ndisagree", ha="center", color=AUGMENTED)
        axes.set(xlabel=xlabel, ylabel="probability", ylim=(0, 1), xlim=(x[0], x[-1]))
        axes.legend(loc="upper left")
    return figure


def excess_risk_and_bounds(a, total, label_part, lower, upper):
    """Excess risk between its bounds, as the sum of its two parts, against a cut-off a.

    Parameters
    ----------
    a, total, label_part, lower, upper : arrays
        The grid of a, and the members of :class:`pu_utils.risk.ExcessRisk` on it.
    """
    with _figure(figsize=(7, 3.8)) as (figure, axes):
        axes.fill_between(a, 0, label_part, color=LABELLED, alpha=0.35, label="label part")
        axes.fill_between(
            a, label_part, total, color=AUGMENTED, alpha=0.35, hatch="//", label="threshold part"
        )
        axes.plot(a, total, color="black", label=r"excess risk $\Delta(d_B)$")
        axes.plot(a, upper, color=X_ONLY, ls="--", label="upper bound P(S=1)")
        axes.plot(a, lower, color=LABELLED, ls=":", label="lower bound E[s 1{y<1/2}]")
        axes.set(xlabel="a: every positive with x > a is labelled", ylabel="probability of error")
        axes.legend()
    return figure


def augmented_posteriors(x, curves, marked):
    """Augmented posteriors of unlabelled rows for several slopes of the propensity (Figure 1).

    Parameters
    ----------
    x : array
        The grid of x.
    curves : dict
        Label of each curve and its values on the grid.
    marked : dict
        Label and x where that curve crosses 1/2.
    """
    styles = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1))]
    colours = plt.get_cmap("viridis")(np.linspace(0, 0.85, len(curves)))
    with _figure(figsize=(7, 3.8)) as (figure, axes):
        for (label, values), style, colour in zip(curves.items(), styles, colours, strict=False):
            axes.plot(x, values, ls=style, color=colour, label=label)
            if label in marked:
                axes.plot(marked[label], 0.5, "o", color=colour)
        axes.axhline(0.5, color=AUGMENTED, lw=1)
        axes.set(xlabel="x", ylabel=r"$\tilde y(x, 0)$", ylim=(0, 1), xlim=(x[0], x[-1]))
        axes.legend()
    return figure


def risks_by_slope(beta, risks):
    """Bayes risks against the slope of the propensity.

    Parameters
    ----------
    beta : array
        The grid of slopes.
    risks : dict
        Label of each curve and its values; the first is drawn dashed.
    """
    with _figure(figsize=(7, 3.2)) as (figure, axes):
        styles = [(X_ONLY, "--"), (AUGMENTED, "-"), ("black", ":")]
        for (label, values), (colour, style) in zip(risks.items(), styles, strict=True):
            axes.plot(
                beta, np.broadcast_to(values, beta.shape), color=colour, ls=style, label=label
            )
        axes.set(xlabel=r"$\beta$", ylabel="probability of error", ylim=(0, None))
        axes.legend()
    return figure


def excess_heat_map(alpha, beta, excess):
    """Excess risk over the slopes of class posterior and propensity, with the diagonal.

    Parameters
    ----------
    alpha, beta : arrays
        The grids of slopes.
    excess : array
        Excess risk, one row per beta and one column per alpha.
    """
    with _figure(figsize=(6, 4.4)) as (figure, axes):
        axes.grid(False)
        image = axes.pcolormesh(alpha, beta, excess, cmap="cividis", shading="gouraud")
        axes.contour(alpha, beta, excess, colors="white", linewidths=0.6)
        axes.plot([0, min(alpha[-1], beta[-1])], [0, min(alpha[-1], beta[-1])], "w--", lw=1)
        axes.set(xlabel=r"$\alpha$, slope of $y$", ylabel=r"$\beta$, slope of $e$")
        figure.colorbar(image, label=r"excess risk $\Delta(d_B)$")
    return figure


def image_strips(strips):
    """Rows of small images, each with a title above it.

    Parameters
    ----------
    strips : dict
        Title of each row and its images, (n, height, width) or (n, height, width, 3).
    """
    with _figure(len(strips), 1, figsize=(7, 1.15 * len(strips))) as (figure, axes):
        for ax, (title, images) in zip(np.atleast_1d(axes), strips.items(), strict=True):
            ax.imshow(np.concatenate(list(images), axis=1), cmap="gray_r")
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
    with _figure(rows, columns, figsize=(7.5, 2.5 * rows), squeeze=False) as (figure, axes):
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
    """Horizontal bars, one a name, with an optional vertical line for reference.

    Parameters
    ----------
    values : dict
        Name and length of each bar.
    xlabel : str
    reference : pair (float, str), optional
        Where the line stands, and what it means.
    """
    with _figure(figsize=(7, 0.38 * len(values) + 0.9)) as (figure, axes):
        drawn = axes.barh(list(values), list(values.values()), color=AUGMENTED, alpha=0.7)
        axes.bar_label(drawn, fmt="%.2f", padding=3)
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.set(xlabel=xlabel, xlim=(0, 1.08 * max(values.values())))
        if reference is not None:
            axes.axvline(reference[0], color="black", ls="--", lw=1, label=reference[1])
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1))
    return figure


def prophets_by_label_frequency(beside, truth):
    """Published prophets with two standard errors beside large-sample values, a panel each.

    Parameters
    ----------
    beside : DataFrame
        As :func:`pu_utils.reproduction.prophets.beside_published` gives it, of one metric.
    truth : DataFrame
        Columns dataset, label_frequency, method, value: large-sample values in per cent.
    """
    colours = {"S-Prophet": AUGMENTED, "Y-Prophet": X_ONLY, "all-negative": NEGATIVE}
    styles = {"S-Prophet": "-", "Y-Prophet": "--", "all-negative": ":"}
    names = list(beside["dataset"].unique())
    with _figure(2, 2, figsize=(7.5, 5.4), sharex=True, sharey=True) as (figure, axes):
        for ax, name in zip(axes.flat, names, strict=True):
            for method, colour in colours.items():
                line = truth.query("dataset == @name and method == @method")
                ax.plot(
                    line["label_frequency"],
                    line["value"],
                    color=colour,
                    ls=styles[method],
                    label=f"{method}, large sample",
                )
                dots = beside.query("dataset == @name and method == @method")
                if len(dots):
                    ax.errorbar(
                        dots["label_frequency"],
                        dots["mean"],
                        2 * dots["se"],
                        fmt="o" if method == "S-Prophet" else "s",
                        color=colour,
                        ms=4,
                        label=f"{method}, published ± 2 SE",
                    )
            ax.set_title(TITLES[name])
        for ax in axes[-1]:
            ax.set_xlabel("label frequency c")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure


def thresholds_for_balance(odds, curves, best):
    """U-balanced accuracy against the odds that a row must exceed, with the predicted optimum.

    Parameters
    ----------
    odds : array
        The grid of thresholds on the odds.
    curves : dict
        Label of each curve and its values on the grid.
    best : dict
        Label and (odds, value) at the predicted optimum.
    """
    styles = [(AUGMENTED, "-"), (X_ONLY, "--"), (LABELLED, "-.")]
    with _figure(figsize=(7, 3.6)) as (figure, axes):
        for (label, values), (colour, style) in zip(curves.items(), styles, strict=True):
            axes.plot(odds, values, color=colour, ls=style, label=label)
            axes.plot(*best[label], "o", color=colour)
        axes.axvline(1, color="black", lw=1)
        axes.text(1.08, 51.5, "0-1 rule, t = 1")
        axes.set(xscale="log", xlabel="threshold t on the odds", ylabel="U-balanced accuracy (%)")
        axes.legend()
    return figure


def vae_pu_graph():
    """The networks of VAE-PU and what flows between them."""
    boxes = {  # centre, text, whether it is a network
        "x": ((0.0, 1.5), "x", False),
        "o": ((0.0, 0.4), "o: labelled?", False),
        "encoder_y": ((1.5, 2.2), "encoder_y", True),
        "encoder_o": ((1.5, 0.6), "encoder_o", True),
        "h_y": ((3.0, 2.2), "$h_y$: class", False),
        "h_o": ((3.0, 0.6), "$h_o$: label", False),
        "decoder": ((4.5, 1.5), "decoder", True),
        "label_head": ((4.5, 0.2), "label head", True),
        "x_PU": ((6.0, 1.5), "$x_{PU}$", False),
        "discriminator": ((7.6, 2.2), "discriminator", True),
        "target": ((7.6, 0.8), "target classifier", True),
    }
    arrows = [
        ("x", "encoder_y"), ("x", "encoder_o"), ("o", "encoder_o"), ("encoder_y", "h_y"),
        ("encoder_o", "h_o"), ("h_y", "decoder"), ("h_o", "decoder"), ("h_o", "label_head"),
        ("decoder", "x_PU"), ("x_PU", "discriminator"), ("x_PU", "target"),
    ]  # fmt: skip
    with _figure(figsize=(7.5, 2.7)) as (figure, axes):
        for (x, y), text, network in boxes.values():
            style = "round,pad=0.35" if network else "square,pad=0.3"
            colour = "#cfe5f5" if network else "#f3f3f3"
            frame = {"boxstyle": style, "fc": colour, "ec": "black"}
            axes.text(x, y, text, ha="center", va="center", fontsize=8, bbox=frame, zorder=2)
        for start, end in arrows:
            arrow = {"arrowstyle": "->", "shrinkA": 24, "shrinkB": 26}
            axes.annotate("", boxes[end][0], boxes[start][0], arrowprops=arrow, zorder=1)
        axes.set(xlim=(-0.7, 8.6), ylim=(-0.2, 2.7))
        axes.axis("off")
    return figure


def scatter_by_group(panels_, groups):
    """Points of several planes, coloured and shaped by group.

    Parameters
    ----------
    panels_ : dict
        Title of each panel and its points, (n, 2).
    groups : dict
        Label of each group and which rows belong to it (bool array).
    """
    styles = [(NEGATIVE, "."), (POSITIVE, "x"), (LABELLED, "^")]
    with _figure(1, len(panels_), figsize=(7.5, 3.4)) as (figure, axes):
        for ax, (title, points) in zip(np.atleast_1d(axes), panels_.items(), strict=True):
            for (label, rows), (colour, marker) in zip(groups.items(), styles, strict=False):
                ax.scatter(
                    *points[rows].T, s=12, color=colour, marker=marker, label=label, alpha=0.7
                )
            ax.set_title(title)
        handles, labels = np.atleast_1d(axes)[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(groups))
    return figure


def grouped_bars(table, xlabel):
    """Horizontal bars, one cluster a row of the table and one colour a column.

    Parameters
    ----------
    table : DataFrame
        Lengths of the bars.
    xlabel : str
    """
    colours = [AUGMENTED, X_ONLY, LABELLED, POSITIVE, NEGATIVE]
    height = 0.8 / len(table.columns)
    size = (7, 0.9 + 0.28 * table.size)
    with _figure(figsize=size) as (figure, axes):
        for k, (column, colour) in enumerate(zip(table.columns, colours, strict=False)):
            where = np.arange(len(table)) + (k - (len(table.columns) - 1) / 2) * height
            drawn = axes.barh(where, table[column], height, color=colour, label=column, alpha=0.75)
            axes.bar_label(drawn, fmt="%.2f", padding=3, fontsize=8)
        axes.set_yticks(np.arange(len(table)), table.index)
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.set(xlabel=xlabel, xlim=(0, 1.12 * table.to_numpy().max()))
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=min(5, len(table.columns)))
    return figure


def against_frequency(comparison, table, methods):
    """Published bands (± 2 standard errors) and our means against c, one panel per data set.

    Parameters
    ----------
    comparison : DataFrame
        What :func:`pu_utils.tables.compare` gives.
    table : str
        "table1" to "table5", "tableA2" to "tableA5".
    methods : sequence of str
        Methods of the table.
    """
    rows = comparison[(comparison["table"] == table) & comparison["method"].isin(methods)]
    names = list(dict.fromkeys(rows["dataset"]))
    n_columns = 2 if len(names) == 4 else 3
    size = (7.5, 2.5 * len(names) / n_columns + 0.6)
    with _figure(-(-len(names) // n_columns), n_columns, figsize=size, sharex=True) as (
        figure,
        axes,
    ):
        for ax, name in zip(axes.flat, names, strict=True):
            _frequency_panel(ax, rows[rows["dataset"] == name], methods)
            ax.set_title(TITLES[name])
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
        colour, marker = METHOD_STYLES[method]
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
        What :func:`pu_utils.tables.paired` gives.
    published : Series
        The published gains, by data set and label frequency.
    """
    names = list(dict.fromkeys(table.index.get_level_values("dataset")))
    frequencies = sorted(set(table.index.get_level_values("label_frequency")))
    with _figure(figsize=(7, 0.85 * len(frequencies) + 1)) as (figure, axes):
        for k, (name, (colour, marker)) in enumerate(zip(names, SET_STYLES, strict=False)):
            rows = table.loc[name]
            where = [frequencies.index(c) + 0.15 * (k - (len(names) - 1) / 2) for c in rows.index]
            axes.hlines(where, rows["low"], rows["high"], color=colour, lw=1.5)
            fill = ["white" if side == "open" else colour for side in rows["side"]]
            dots = {"marker": marker, "edgecolor": colour, "zorder": 3, "s": 26}
            axes.scatter(rows["mean"], where, facecolor=fill, **dots)
            axes.scatter([], [], facecolor=colour, label=TITLES[name], **dots)
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


def changes(table, xlabel):
    """What each change does: a row a change, a dot a seed, and a stroke at their mean.

    Parameters
    ----------
    table : DataFrame
        Differences, one row a change and one column a seed.
    xlabel : str
    """
    with _figure(figsize=(7, 0.45 * len(table) + 0.9)) as (figure, axes):
        rows = np.arange(len(table))
        for k, seed in enumerate(table.columns):
            label = "a seed" if k == 0 else None
            axes.scatter(table[seed], rows, color=AUGMENTED, alpha=0.7, zorder=3, label=label)
        mean = table.mean(axis=1)
        axes.scatter(mean, rows, marker="|", color="black", s=200, zorder=4, label="their mean")
        axes.axvline(0, color="black", lw=1)
        axes.set_yticks(rows, table.index)
        axes.margins(y=0.15)
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(xlabel)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return figure


def gain_by_calls(table):
    """The gain of the augmented rule against how many rows the naive rule calls positive.

    Parameters
    ----------
    table : DataFrame
        By ``method``, data set and label frequency: ``called``, rows called positive for each
        that is, and ``gain``, in points.
    """
    with _figure(figsize=(7, 4)) as (figure, axes):
        methods = table.groupby("method", sort=False)
        for (name, rows), (colour, marker) in zip(methods, SET_STYLES, strict=False):
            axes.scatter(
                rows["called"], rows["gain"], color=colour, marker=marker, s=18, label=name
            )
        axes.axhline(0, color="black", lw=1)
        for limit in (1, 2):
            axes.axvline(limit, color="black", lw=1, ls=":")
        axes.set(
            xlabel="unlabelled rows that the naive rule calls positive, for each that is",
            ylabel="gain of the augmented rule, points",
        )
        axes.set_yscale("symlog", linthresh=1)
        axes.set_yticks([-3, -1, 0, 1, 3, 10, 20])
        axes.yaxis.set_major_formatter("{x:g}")
        axes.legend(loc="lower right", ncols=2)
    return figure


def golden_area(panels_):
    """Rows ordered by y, with y - s/2 below each, and where the two rules differ (Figure 2).

    Parameters
    ----------
    panels_ : dict
        Title of each panel and its unlabelled rows, a DataFrame with ``y``, ``s``, ``class``.
    """
    with _figure(1, len(panels_), figsize=(7.5, 3.4), sharey=True) as (figure, axes):
        for ax, (title, rows) in zip(np.atleast_1d(axes), panels_.items(), strict=True):
            rows = rows.sort_values("y", kind="stable")
            share = (np.arange(len(rows)) + 0.5) / len(rows)
            start = share[rows["y"] > 0.5].min(initial=1.0)
            ax.axvspan(start, 1, ymax=0.5, color="gold", alpha=0.35, lw=0)
            ax.plot(share, rows["y"], color=X_ONLY, label="y(x)")
            groups = {"negative": (0, NEGATIVE, "."), "positive": (1, LABELLED, "^")}
            for label, (value, colour, marker) in groups.items():
                chosen = (rows["class"] == value).to_numpy()
                shifted = (rows["y"] - rows["s"] / 2)[chosen]
                ax.scatter(
                    share[chosen], shifted, s=7, color=colour, marker=marker, lw=0, alpha=0.6,
                    label=f"y(x) - s(x)/2, {label}",
                )  # fmt: skip
            ax.axhline(0.5, color="black", lw=1)
            ax.set(title=title, xlabel="rows in the order of y(x)", ylim=(0, 1), xlim=(0, 1))
            ax.set_xticks([0, 0.5, 1], ["0", "", "1"])
            ax.title.set_fontsize(9)
        handles, labels = np.atleast_1d(axes)[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, markerscale=2)
    return figure


def reliability(curves):
    """Share of positives against mean estimate, and the diagonal of a calibrated one.

    Parameters
    ----------
    curves : dict
        Label and what :func:`pu_utils.calibration.reliability` gives.
    """
    with _figure(figsize=(5.4, 4.2)) as (figure, axes):
        axes.plot([0, 1], [0, 1], color="black", lw=1, label="calibrated")
        for (label, (estimated, observed)), (colour, marker) in zip(
            curves.items(), SET_STYLES, strict=False
        ):
            axes.plot(estimated, observed, marker=marker, color=colour, label=label, lw=1.5)
        axes.set(xlabel="estimated y(x), mean of a tenth of the rows", ylabel="share of positives")
        axes.legend()
    return figure


def cost_by_dataset(costs):
    """What a cell costs on each data set, a dot a schedule, filled where it was measured.

    Parameters
    ----------
    costs : DataFrame
        Columns dataset, schedule, rows, seconds, measured.
    """
    names = list(costs.sort_values("rows", kind="stable")["dataset"].unique())
    rows = costs.groupby("dataset")["rows"].first()
    with _figure(figsize=(7, 0.42 * len(names) + 1.2)) as (figure, axes):
        by_schedule = costs.groupby("schedule", sort=False)
        for (schedule, group), (colour, marker) in zip(by_schedule, SET_STYLES, strict=False):
            for measured, dots in group.groupby("measured", sort=False):
                axes.scatter(
                    dots["seconds"] / 60,
                    dots["dataset"].map(names.index),
                    marker=marker,
                    edgecolor=colour,
                    facecolor=colour if measured else "none",
                    label=f"{schedule}, {'measured' if measured else 'extrapolated'}",
                    zorder=3,
                )
        labels = [f"{TITLES[name]}, {rows[name]:,} rows" for name in names]
        axes.set_yticks(range(len(names)), labels)
        axes.invert_yaxis()
        axes.set(xscale="log", xlabel="processor minutes of a cell")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return figure
