"""Each figure draws what it is given, once, in the book's style."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from pu_utils import plots

x = np.linspace(-3, 3, 61)
y = 1 / (1 + np.exp(-x))


def lines(figure):
    """Labels and y-values of the lines in the first axes."""
    return {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}


@pytest.fixture(autouse=True)
def no_figure_left_open():
    """A figure left open would be shown twice in a notebook."""
    yield
    assert plt.get_fignums() == []


def test_patients_by_age_counts_everyone_once():
    """The bars of the three groups add up to all patients."""
    age = np.array([30, 40, 50, 60, 70])
    figure = plots.patients_by_age(age, np.array([0, 0, 1, 1, 1]), np.array([0, 0, 0, 1, 1]))
    assert sum(bar.get_height() for bar in figure.axes[0].patches) == 2 + 1 + 2


def test_two_thresholds_shades_the_disagreement():
    """The shaded stretch is where y lies between 1/2 and (1+s)/2."""
    figure = plots.two_thresholds(x, y, 0.5 * y)
    (shaded,) = figure.axes[0].collections
    shaded_x = shaded.get_paths()[0].vertices[:, 0]
    differ = x[(y > 0.5) & (y <= (1 + 0.5 * y) / 2)]
    assert (shaded_x.min(), shaded_x.max()) == pytest.approx((differ.min(), differ.max()))


def test_excess_risk_and_bounds_draws_total_and_bounds():
    """The three curves are the total and the two bounds."""
    figure = plots.excess_risk_and_bounds(x, 0.3 * y, 0.1 * y, 0.1 * y, y)
    drawn = list(lines(figure).values())
    assert [curve[-1] for curve in drawn] == pytest.approx([0.3 * y[-1], y[-1], 0.1 * y[-1]])


def test_augmented_posteriors_marks_the_crossings():
    """Each marked curve has a dot at height 1/2."""
    figure = plots.augmented_posteriors(x, {"a": y, "b": y / 3}, {"a": 0.0})
    dots = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert [(float(dot.get_xdata()[0]), float(dot.get_ydata()[0])) for dot in dots] == [(0.0, 0.5)]


def test_risks_by_slope_accepts_a_constant():
    """A constant risk is drawn as a horizontal line."""
    figure = plots.risks_by_slope(x, {"constant": 0.3, "b": y, "c": 1 - y})
    assert set(lines(figure)["constant"]) == {0.3}


def test_excess_heat_map_has_a_colour_scale():
    """The heat map comes with its scale."""
    figure = plots.excess_heat_map(x + 3, x + 3, np.outer(y, y))
    assert [axes.get_ylabel() for axes in figure.axes][1].startswith("excess risk")


def test_image_strips_shows_each_row():
    """One strip a title, as wide as its images together."""
    figure = plots.image_strips({"a": np.zeros((3, 4, 5)), "b": np.zeros((2, 4, 5, 3))})
    widths = [axes.images[0].get_array().shape[1] for axes in figure.axes]
    assert widths == [15, 10]


def test_panels_has_one_panel_a_title():
    """Each title gets its panel, empty places are hidden, several lines get a legend."""
    figure = plots.panels({"a": {"": (x, y)}, "b": {"p": (x, y), "q": (x, -y)}}, "x", "y")
    assert [axes.get_title() for axes in figure.axes] == ["a", "b"]
    assert [axes.get_legend() is not None for axes in figure.axes] == [False, True]
    assert not figure.legends
    figure = plots.panels({str(k): {"": (x, y)} for k in range(4)}, "x", "y")
    assert [axes.axison for axes in figure.axes] == [True] * 4 + [False] * 2
    assert not figure.legends
    figure = plots.panels({name: {"p": (x, y), "q": (x, -y)} for name in "ab"}, "x", "y")
    assert [text.get_text() for text in figure.legends[0].texts] == ["p", "q"]
    assert not any(axes.get_legend() for axes in figure.axes)


def test_bars_are_as_long_as_their_values():
    """The bars have the given lengths, and the reference line its place."""
    figure = plots.bars({"a": 0.5, "b": 0.9}, "AUC", (0.5, "chance"))
    assert [bar.get_width() for bar in figure.axes[0].patches] == [0.5, 0.9]
    assert list(figure.axes[0].lines[0].get_xdata()) == [0.5, 0.5]


def test_prophets_by_label_frequency_draws_published_and_truth():
    """Each panel has three curves, and the two published series with error bars."""
    rows = [
        (name, c, method, 70.0, 0.5, 71.0)
        for name in ("synth_1", "synth_2", "synth_3", "synth_scar")
        for c in (0.1, 0.9)
        for method in ("S-Prophet", "Y-Prophet", "all-negative")
    ]
    columns = ["dataset", "label_frequency", "method", "mean", "se", "value"]
    frame = pd.DataFrame(rows, columns=columns)
    figure = plots.prophets_by_label_frequency(frame.query("method != 'all-negative'"), frame)
    assert [len(axes.containers) for axes in figure.axes] == [2] * 4
    assert figure.axes[0].get_title() == "Synth. 1"


def test_thresholds_for_balance_marks_the_optimum():
    """The dot of each curve stands where it was predicted."""
    odds = np.geomspace(0.1, 10, 5)
    curves = {label: 50 + odds for label in "abc"}
    figure = plots.thresholds_for_balance(odds, curves, {label: (0.5, 60) for label in "abc"})
    dots = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert len(dots) == 3 and dots[0].get_xdata()[0] == 0.5


def test_vae_pu_graph_names_every_network():
    """The diagram shows the five networks and the two latents."""
    texts = {text.get_text() for text in plots.vae_pu_graph().axes[0].texts}
    assert {"encoder_y", "encoder_o", "decoder", "discriminator", "target classifier"} <= texts


def test_scatter_by_group_draws_every_point():
    """Each panel shows all points, group by group."""
    points = np.arange(10.0).reshape(5, 2)
    first = np.array([True, True, False, False, False])
    figure = plots.scatter_by_group({"a": points, "b": -points}, {"one": first, "two": ~first})
    sizes = [[len(c.get_offsets()) for c in axes.collections] for axes in figure.axes]
    assert sizes == [[2, 3], [2, 3]]


def test_grouped_bars_draws_the_table():
    """One bar an entry of the table, as long as it says."""
    table = pd.DataFrame({"a": [0.1, 0.2], "b": [0.3, 0.4]}, index=["u", "v"])
    lengths = [bar.get_width() for bar in plots.grouped_bars(table, "share").axes[0].patches]
    assert lengths == [0.1, 0.2, 0.3, 0.4]


def test_against_frequency_shows_bands_and_our_means():
    """One panel per data set; what was not run says so."""
    comparison = pd.DataFrame(
        {
            "table": "table5",
            "metric": "u_accuracy",
            "dataset": ["mnist_3v5"] * 2 + ["cifar_ct"] * 2,
            "label_frequency": [0.1, 0.5] * 2,
            "method": "VP-B",
            "published": 80.0,
            "published_se": 1.0,
            "ours": [81.0, 79.0, np.nan, np.nan],
            "ours_se": [1.0, np.nan, np.nan, np.nan],
        }
    )
    comparison = pd.concat(
        [
            comparison,
            comparison.assign(
                dataset=comparison["dataset"].map({"mnist_3v5": "cifar_va", "cifar_ct": "stl_va"})
            ),
        ]
    )
    figure = plots.against_frequency(comparison, "table5", ["VP-B"])
    assert [ax.get_title() for ax in figure.axes] == ["MNIST 3v5", "CIFAR CT", "CIFAR VA", "STL VA"]
    assert figure.axes[0].lines[0].get_ydata().tolist() == [81.0, 79.0]
    assert not figure.axes[0].texts and figure.axes[1].texts[0].get_text() == "not run by us"


def test_gains_are_filled_where_zero_is_left_out():
    """One mark a cell, with the published one; hollow where the interval holds zero."""
    index = pd.MultiIndex.from_product(
        [["synth_1"], [0.1, 0.9]], names=["dataset", "label_frequency"]
    )
    columns = {"mean": [0.1, 9.0], "low": [-0.2, 8.0], "high": [0.4, 10.0]}
    columns["side"] = ["open", "ahead"]
    beside = pd.Series([0.2, 8.5], index=index)
    axes = plots.gains(pd.DataFrame(columns, index=index), beside).axes[0]
    intervals, dots, _, published, _ = axes.collections
    assert [line[:, 0].tolist() for line in intervals.get_segments()] == [[-0.2, 0.4], [8, 10]]
    assert dots.get_offsets()[:, 0].tolist() == [0.1, 9.0]
    hollow, filled = dots.get_facecolor()
    assert tuple(hollow) == (1, 1, 1, 1) and tuple(filled) == tuple(dots.get_edgecolor()[0])
    assert published.get_offsets()[:, 0].tolist() == [0.2, 8.5]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["c = 0.1", "c = 0.9"]


def test_changes_has_a_dot_a_seed_and_their_mean():
    """Seed by seed down the rows, then the means."""
    table = pd.DataFrame({0: [1.0, -2.0], 1: [3.0, 0.0]}, index=["u", "v"])
    axes = plots.changes(table, "points").axes[0]
    dots = [collection.get_offsets().tolist() for collection in axes.collections]
    assert dots == [[[1, 0], [-2, 1]], [[3, 0], [0, 1]], [[2, 0], [-1, 1]]]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["u", "v"]


def test_gain_by_calls_has_a_mark_a_cell():
    """Method by method, in the order given."""
    names = ["method", "dataset", "label_frequency"]
    index = pd.MultiIndex.from_product([["VP-B", "LBE"], ["synth_1"], [0.1, 0.9]], names=names)
    table = pd.DataFrame({"called": [1.0, 3.0, 0.1, 4.0], "gain": [-0.1, 14, -2, 15]}, index=index)
    first, second = plots.gain_by_calls(table).axes[0].collections
    assert (first.get_label(), second.get_label()) == ("VP-B", "LBE")
    assert first.get_offsets().tolist() == [[1.0, -0.1], [3.0, 14]]
    assert second.get_offsets().tolist() == [[0.1, -2], [4.0, 15]]


def test_golden_area_begins_where_y_exceeds_one_half():
    """The shaded part spans the rows that the naive rule calls positive."""
    rows = pd.DataFrame({"y": [0.9, 0.1, 0.6, 0.2], "s": 0.1, "class": [1, 0, 0, 0]})
    figure = plots.golden_area({"model": rows})
    ax = figure.axes[0]
    assert ax.patches[0].get_x() == pytest.approx(0.625)
    assert ax.lines[0].get_ydata().tolist() == [0.1, 0.2, 0.6, 0.9]
    assert ax.collections[1].get_offsets()[:, 1].tolist() == pytest.approx([0.85])


def test_reliability_draws_a_curve_per_model():
    """Beside the diagonal."""
    drawn = lines(plots.reliability({"model": (np.array([0.2, 0.8]), np.array([0.4, 0.6]))}))
    assert drawn["model"].tolist() == [0.4, 0.6] and "calibrated" in drawn


def test_cost_by_dataset_fills_what_was_measured():
    """Dots stand at their minutes, from few rows to many; filled only where measured."""
    columns = ["dataset", "schedule", "rows", "seconds", "measured"]
    rows = [
        ("mnist_ove", "paper", 900, 6000, False),
        ("synth_1", "paper", 700, 600, True),
        ("mnist_ove", "fast", 900, 60, False),
    ]
    axes = plots.cost_by_dataset(pd.DataFrame(rows, columns=columns)).axes[0]
    assert [t.get_text().split(",")[0] for t in axes.get_yticklabels()] == ["Synth. 1", "MNIST OvE"]
    dots = {
        c.get_label(): (c.get_offsets().tolist(), len(c.get_facecolor())) for c in axes.collections
    }
    assert dots == {
        "paper, extrapolated": ([[100, 1]], 0),
        "paper, measured": ([[10, 0]], 1),
        "fast, extrapolated": ([[1, 1]], 0),
    }
