"""Each figure draws what it is given, once, in the book's style."""

from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell

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


def tags(figure):
    """Names of the elements in the figure as SVG, without their namespace."""
    return [
        element.tag.split("}")[1] for element in ElementTree.fromstring(plots.as_svg(figure)).iter()
    ]


def scatter(n_points):
    """A figure of so many points."""
    with plots.new_figure() as (figure, axes):
        axes.scatter(*np.random.default_rng(0).random((2, n_points)))
    return figure


def test_a_figure_is_the_same_bytes_at_every_run():
    """No date and no random name stands in it, and no typeface that a reader may lack."""
    first, second = (plots.as_svg(scatter(20)) for _ in range(2))
    assert first == second and "date" not in first
    assert "text" not in tags(scatter(20)) and "image" not in tags(scatter(20))


def test_a_crowd_is_drawn_as_pixels():
    """Points beyond number become one image; axes and letters stay sharp."""
    drawn = tags(scatter(50_000))
    assert drawn.count("image") == 1 and drawn.count("path") > 10
    assert len(plots.as_svg(scatter(50_000))) < 400_000


@pytest.mark.parametrize("draw", ["pcolormesh", "contourf"])
def test_shades_are_drawn_as_pixels(draw):
    """Of a surface there may be as many as points, or as long borders."""
    surface = np.random.default_rng(0).random((60, 60))
    with plots.new_figure() as (figure, axes):
        getattr(axes, draw)(surface)
    assert tags(figure).count("image") == 1 and len(plots.as_svg(figure)) < 300_000


def test_a_notebook_shows_svg_alone():
    """No pixels beside the drawing, whatever the inline backend has asked for."""
    shell = InteractiveShell()
    shell.display_formatter.formatters["image/png"].for_type(plt.Figure, lambda figure: "pixels")
    plots.show_as_svg(shell)
    shown, _ = shell.display_formatter.format(scatter(3))
    assert shown.keys() == {"image/svg+xml", "text/plain"}


def test_photographs_are_marked():
    """So that a dark page can leave them as they are; a drawing has no such mark."""
    strips = plots.image_strips({"a": np.zeros((3, 4, 5))})
    assert f'id="{plots.PHOTOGRAPH}' in plots.as_svg(strips)
    assert plots.PHOTOGRAPH not in plots.as_svg(scatter(3))


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


def test_bars_draw_a_table():
    """One bar an entry of the table, as long as it says."""
    table = pd.DataFrame({"a": [0.1, 0.2], "b": [0.3, 0.4]}, index=["u", "v"])
    lengths = [bar.get_width() for bar in plots.bars(table, "share").axes[0].patches]
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
