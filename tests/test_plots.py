"""Figures are drawings that a page can carry in light and dark, and show what they are given."""

import re
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import seaborn as sns
from IPython.core.interactiveshell import InteractiveShell

from pu_utils import plots


def tags(figure):
    """Names of the elements in the figure as SVG, without their namespace."""
    root = ElementTree.fromstring(plots.as_svg(figure))
    return [element.tag.split("}")[1] for element in root.iter()]


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


def test_a_notebook_shows_svg_once():
    """Of figures, axes and seaborn's grids; no pixels beside it, and nothing left open."""
    shell = InteractiveShell()
    shell.display_formatter.formatters["image/png"].for_type(plt.Figure, lambda figure: "pixels")
    with plt.rc_context():
        plots.show_as_svg(shell)
        points = pd.DataFrame({"x": [1, 2], "y": [1, 2]})
        for drawn in (scatter(3), sns.scatterplot(points, x="x", y="y"), sns.relplot(points)):
            shown, _ = shell.display_formatter.format(drawn)
            assert shown.keys() == {"image/svg+xml", "text/plain"}
    assert plt.get_fignums() == []


def test_photographs_are_marked():
    """So that a dark page can leave them as they are; a drawing has no such mark."""
    strips = plots.image_strips({"a": np.zeros((3, 4, 5)), "b": np.zeros((2, 4, 5, 3))})
    assert [axes.images[0].get_array().shape[1] for axes in strips.axes] == [15, 10]
    assert f'id="{plots.PHOTOGRAPH}' in plots.as_svg(strips)
    assert plots.PHOTOGRAPH not in plots.as_svg(scatter(3))


def luminance(colour):
    """Relative luminance as WCAG defines it."""
    channels = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast(colour, page):
    """How far two colours differ in luminance, as WCAG has it: from 1 to 21."""
    dark, light = sorted([luminance(colour), luminance(page)])
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("page", ["#ffffff", "#121212"])
def test_colours_are_seen_on_white_and_on_dark_pages(page):
    """Each has a contrast of 3, WCAG's least for graphics."""
    meanings = ("X_ONLY", "AUGMENTED", "LABELLED", "POSITIVE", "NEGATIVE")
    of_meanings = {getattr(plots, name) for name in meanings}
    for colour in of_meanings | {colour for colour, _ in plots.METHOD_STYLES.values()}:
        assert contrast(colour, page) >= 3, colour


def test_tables_are_read_in_light_and_dark():
    """Their ink stands out from every tint by WCAG's 4.5."""
    style = (Path(__file__).parents[1] / "book" / "_static" / "book.css").read_text()
    blocks = re.findall(r"--near: .*?--ink: #\w+", style)
    assert len(blocks) == 2
    for block in blocks:
        *tints, ink = re.findall(r"#\w{6}", block)
        assert len(tints) == 3 and min(contrast(tint, ink) for tint in tints) >= 4.5


def test_a_method_keeps_its_colour_with_s():
    """What tells the two apart is the line, and the filling of the mark."""
    for name, style in plots.METHOD_STYLES.items():
        assert plots.METHOD_STYLES.get(f"{name}+S", style) == style


def test_bars_are_as_long_as_their_values():
    """And a line stands for what they are compared with."""
    axes = plots.bars({"a": 0.5, "b": 0.9}, "AUC", (0.5, "chance")).axes[0]
    assert [bar.get_width() for bar in axes.patches] == [0.5, 0.9]
    assert list(axes.lines[0].get_xdata()) == [0.5, 0.5]


def test_against_frequency_shows_bands_and_our_means():
    """A panel per data set; hollow marks without S; the legend says what a band is."""
    row = {"table": "table5", "metric": "u_accuracy", "published": 80.0, "published_se": 1.0}
    places = [(name, c, m) for name in ("cifar_va", "stl_va") for c in (0.1, 0.5) for m in "ab"]
    rows = pd.DataFrame(places, columns=["dataset", "label_frequency", "method"]).assign(**row)
    rows["method"] = rows["method"].map({"a": "VP-B", "b": "VP-B+S"})
    rows = rows.assign(ours=[81.0, 82.0, 79.0, np.nan] * 2, ours_se=[1.0, np.nan, 1.0, 1.0] * 2)
    figure = plots.against_frequency(rows, "table5", ["VP-B", "VP-B+S"]).figure
    assert [axes.get_title() for axes in figure.axes] == ["CIFAR VA", "STL VA"]
    without, with_s = (line for line in figure.axes[0].lines if line.get_marker() == "o")
    assert without.get_ydata().tolist() == [81.0, 79.0] and with_s.get_ydata()[0] == 82.0
    assert without.get_markerfacecolor() == "none" != with_s.get_markerfacecolor()
    band = figure.axes[0].collections[0].get_paths()[0].get_extents()
    assert (band.ymin, band.ymax) == (78, 82)
    assert figure.legends[0].texts[-1].get_text() == "published, ± 2 standard errors"
    plt.close(figure)


def test_gains_are_filled_where_significant():
    """One mark a cell, with the published one; hollow where the side is open."""
    index = pd.MultiIndex.from_product(
        [["synth_1"], [0.1, 0.9]], names=["dataset", "label_frequency"]
    )
    columns = {"mean": [0.1, 9.0], "low": [-0.2, 8.0], "high": [0.4, 10.0]}
    table = pd.DataFrame(columns | {"side": ["open", "ahead"]}, index=index)
    figure = plots.gains(table, pd.Series([0.2, 8.5], index=index)).figure
    intervals, dots, published = figure.axes[0].collections
    assert [line[:, 0].tolist() for line in intervals.get_segments()] == [[-0.2, 0.4], [8, 10]]
    hollow, filled = dots.get_facecolor()
    assert tuple(hollow) == (1, 1, 1, 1) and tuple(filled) == tuple(dots.get_edgecolor()[0])
    assert published.get_offsets()[:, 0].tolist() == [0.2, 8.5]
    plt.close(figure)
