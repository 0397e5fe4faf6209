"""The figures that can be moved say what ``pu_utils`` says, wherever their sliders stand."""

import json
import sys

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import norm

from pu_utils import risk, rules
from tests.browser.conftest import DESKTOP, HTML, TELEPHONE

pytestmark = pytest.mark.browser
ROOT = HTML.parents[1]


def move(page, figure, **values):
    """Put sliders where the reader would,."""
    for name, value in values.items():
        page.locator(f"[data-figure={figure}] input[name={name}]").fill(str(value))


def reading(page, figure):
    """What the figure's table says, by name."""
    cells = page.locator(f"[data-figure={figure}] [data-reading]")
    pairs = cells.evaluate_all("cells => cells.map(c => [c.dataset.reading, c.textContent])")
    return dict(pairs)


def number(text):
    """A printed number, with commas and per cent sign."""
    return float(text.replace(",", "").rstrip("%"))


def clinic(illness, reporting):
    """The readings of the clinic, on the same ages, by ``pu_utils``."""
    ages = np.linspace(20, 90, 701)
    y = expit(illness * (ages - 58))
    s = rules.label_posterior(y, expit(reporting * (ages - 58)))
    excess, augmented = risk.excess_risk(y, s), risk.augmented_bayes_risk(y, s)
    decisions = {"naive": rules.naive_rule(y, 0), "augmented": rules.augmented_rule(y, s)}
    wrong = {"naive": augmented + excess.threshold_part, "augmented": augmented}
    told = {}
    for name, called in decisions.items():
        told |= {
            f"{name}-from": ages[called][0] if called.any() else None,
            f"{name}-called": 20_000 * np.mean((1 - s) * called),
            f"{name}-right": 20_000 * np.mean((y - s) * called),
            f"{name}-missed": 20_000 * np.mean((y - s) * ~called),
            f"{name}-wrong": 100 * wrong[name],
        }
    return told


# as drawn; steeper illness; labels as steep as illness and steeper, where nobody is called
@pytest.mark.parametrize(
    ("illness", "reporting"), [(0.1, 0.05), (0.2, 0.05), (0.1, 0), (0.08, 0.08), (0.03, 0.2)]
)
def test_clinic(illness, reporting, visit):
    """Thresholds and counts follow the two slopes."""
    page, troubles = visit("notebooks/01_the_idea.html", DESKTOP)
    move(page, "clinic", illness=illness, reporting=reporting)
    shown, expected = reading(page, "clinic"), clinic(illness, reporting)
    assert troubles == [] and shown.keys() == expected.keys()
    for name, value in expected.items():
        if value is None:
            assert shown[name] == "never", name
        else:  # the last printed digit: a tenth of a year, one patient, a hundredth of a per cent
            digit = {"from": 0.1, "wrong": 0.01}.get(name.split("-")[1], 1)
            assert abs(number(shown[name]) - value) <= 0.51 * digit, name


def sigmoids(alpha, beta):
    """The readings of Example 2 with X standard normal, by ``pu_utils``."""
    points = np.linspace(-9, 9, 7201)
    weights = norm.pdf(points) / norm.pdf(points).sum()
    y = expit(alpha * points)
    s = rules.label_posterior(y, expit(beta * points))
    excess, x_only = risk.excess_risk(y, s, weights), risk.bayes_risk(y, weights)
    augmented = x_only - excess.total

    def margin(x):
        y_x = expit(alpha * x)
        return rules.augmented_posterior(y_x, rules.label_posterior(y_x, expit(beta * x))) - 0.5

    return {
        "boundary": brentq(margin, 0, 30 / alpha) if beta < alpha else None,
        "labelled": excess.upper,
        "x-only": x_only,
        "naive": augmented + excess.threshold_part,
        "augmented": augmented,
    }


@pytest.mark.parametrize(("alpha", "beta"), [(1, 0.5), (1, 0), (2.5, 2), (1, 1), (0.5, 3)])
def test_sigmoids(alpha, beta, visit):
    """Boundary and risks follow the two slopes."""
    page, troubles = visit("notebooks/03_examples.html", DESKTOP)
    move(page, "sigmoids", alpha=alpha, beta=beta)
    shown, expected = reading(page, "sigmoids"), sigmoids(alpha, beta)
    assert troubles == [] and shown.keys() == expected.keys()
    for name, value in expected.items():
        if value is None:
            assert shown[name] == "never"
        else:
            digits = 3 if name == "boundary" else 4
            assert abs(number(shown[name]) - value) <= 0.51 * 10**-digits, name


def triangle(s, y):
    """The readings at a point of the triangle, by ``pu_utils``."""
    x_only, augmented = risk.bayes_risk([y]), risk.augmented_bayes_risk([y], [s])
    return {
        "e": rules.propensity(y, s),
        "augmented-posterior": rules.augmented_posterior(y, s),
        "x-only-says": rules.x_only_rule(y),
        "augmented-says": rules.augmented_rule(y, s),
        "x-only": x_only,
        "naive": augmented + risk.excess_risk([y], [s]).threshold_part,
        "augmented": augmented,
        "loses": risk.excess_risk([y], [s]).total,
    }


def agrees(page, s, y):
    """The readings at the point are those of ``pu_utils``, to the last printed digit."""
    shown, expected = reading(page, "triangle"), triangle(s, y)
    assert shown.keys() == expected.keys()
    for name, value in expected.items():
        assert abs(number(shown[name]) - float(value)) <= 0.51e-3, (name, s, y)


# both rules say 0; in the wedge; both say 1; every positive labelled; no row positive
@pytest.mark.parametrize(
    ("s", "y"), [(0.2, 0.4), (0.39, 0.67), (0.1, 0.9), (0.8, 0.8), (0, 0), (0.5, 1)]
)
def test_triangle(s, y, visit):
    """Posteriors, decisions and costs follow the point."""
    page, troubles = visit("notebooks/02_theorem_1.html", DESKTOP)
    move(page, "triangle", s=0, y=y)
    move(page, "triangle", s=s)
    assert troubles == []
    agrees(page, s, y)


def place(page):
    """Where the sliders of the triangle stand."""
    sliders = page.locator("[data-figure=triangle] input")
    return sliders.evaluate_all("sliders => sliders.map(slider => Number(slider.value))")


def test_the_triangle_is_never_left(visit):
    """A slider that would leave the triangle takes the other one along."""
    page, _ = visit("notebooks/02_theorem_1.html", DESKTOP)
    move(page, "triangle", s=0.9)
    assert place(page) == [0.9, 0.9]
    move(page, "triangle", y=0.3)
    assert place(page) == [0.3, 0.3]


def test_the_point_is_dragged(visit):
    """By pointer too, and the readings are those of where it is dropped."""
    page, _ = visit("notebooks/02_theorem_1.html", TELEPHONE)
    handle = page.locator("[data-figure=triangle] .pu-handle")
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = place(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y + 40, steps=4)
    page.mouse.up()
    after = place(page)
    assert after[0] < before[0] - 0.1 and after[1] < before[1] - 0.05
    agrees(page, *after)


def test_keys_move_a_slider(visit):
    """A reader without a pointer comes by the tab key and goes on by the arrows."""
    page, _ = visit("notebooks/01_the_idea.html", DESKTOP)
    slider = page.locator("[data-figure=clinic] input[name=illness]")
    slider.focus()
    slider.press("ArrowRight")
    shown = reading(page, "clinic")
    assert number(shown["naive-called"]) == round(clinic(0.11, 0.05)["naive-called"])


@pytest.mark.parametrize(
    ("page_name", "name"),
    [
        ("01_the_idea", "fig-two-thresholds"),
        ("02_theorem_1", "fig-triangle"),
        ("03_examples", "fig-example-2"),
    ],
)
def test_without_scripts_the_static_figure_is_there(page_name, name, browser, address):
    """And its alternative text with it."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/notebooks/{page_name}.html")
    picture = page.locator(f"#{name} img")
    assert picture.is_visible() and len(picture.get_attribute("alt")) > 60
    context.close()


# The results explorer


@pytest.fixture(scope="module")
def numbers():
    """Every number, from ``results/`` as they are now."""
    sys.path.insert(0, str(ROOT / "book" / "_ext"))
    from explorer import numbers

    sys.path.pop(0)
    return json.loads(json.dumps(numbers(ROOT / "results")))


def test_explorer_is_not_stale(numbers, browser, address):
    """The page holds what the results say now, and a table of it for readers without scripts."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/book/explorer.html")
    held = json.loads(page.locator(".pu-explorer script").text_content())
    assert held == numbers, "build the book again"
    rows = page.locator(".pu-explorer tbody tr").count()
    assert rows == sum(row[:3] == numbers["first"] for row in numbers["rows"]) >= 5
    context.close()


@pytest.mark.parametrize(
    ("metric", "name", "c"),
    [("accuracy", "mnist_3v5", 0.02), ("u_balanced_accuracy", "synth_2", 0.9)],
)
def test_explorer_shows_what_is_chosen(metric, name, c, numbers, visit):
    """Numbers of the chosen place, published and ours, and those of ticked methods alone."""
    page, troubles = visit("book/explorer.html", TELEPHONE)
    for select, value in [("metric", metric), ("set", name), ("c", str(c))]:
        page.locator(f".pu-explorer select[name={select}]").select_option(value)
    expected = {row[3]: row[4] for row in numbers["rows"] if row[:3] == [metric, name, c]}
    table = page.locator(".pu-explorer tbody tr")
    shown = {
        line.locator("th").text_content(): line.locator("[data-source=published]").text_content()
        for line in table.all()
    }
    assert shown.keys() == expected.keys() and len(shown) >= 4
    for method, (published, *_) in expected.items():
        mean = "–" if published is None else f"{published[0]:.2f} ±"
        assert shown[method].startswith(mean), method
    first = next(iter(expected))
    page.locator(f".pu-methods input[name='{first}']").uncheck()
    assert table.count() == len(expected) - 1
    assert troubles == []


# Words of the glossary, tables, previews


def test_a_word_explains_itself(visit):
    """By pointer, by tab key, and at the first tap; Escape takes the bubble away."""
    page, _ = visit("notebooks/01_the_idea.html", DESKTOP)
    bubble, word = page.locator("#pu-bubble"), page.locator("a.pu-term").first
    assert bubble.is_hidden()
    word.hover()
    assert "label" in bubble.text_content()
    page.mouse.move(0, 0)
    assert bubble.is_hidden()
    word.focus()
    assert bubble.is_visible()
    page.keyboard.press("Escape")
    assert bubble.is_hidden()


def test_a_tap_explains_and_a_second_one_leads_to_the_glossary(browser, address):
    """On a telephone, where nothing hovers."""
    context = browser.new_context(
        viewport={"width": TELEPHONE, "height": 900}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    page.goto(f"{address}/notebooks/01_the_idea.html")
    word = page.locator("a.pu-term").first
    word.tap()
    assert page.locator("#pu-bubble").is_visible() and page.url.endswith("01_the_idea.html")
    word.tap()
    page.wait_for_url("**/book/glossary.html#term-*")
    context.close()


def test_no_table_has_an_empty_header_row(visit):
    """What pandas puts into a row of its own has moved up."""
    page, _ = visit("notebooks/04_the_data.html", DESKTOP)
    heads = page.locator("table.dataframe thead").evaluate_all(
        "heads => heads.map(h => [...h.rows].map(r => [...r.cells].map(c => c.textContent.trim())))"
    )
    assert len(heads) >= 3
    for rows in heads:
        assert all(sum(map(bool, row)) > len(row) / 2 for row in rows), rows


@pytest.mark.parametrize("name", ["01_the_idea", "02_theorem_1", "03_examples", "05_methods"])
def test_formulas_fit_a_telephone(name, visit):
    """None has to be scrolled to be read."""
    page, _ = visit(f"notebooks/{name}.html", TELEPHONE)
    page.wait_for_timeout(200)  # they become smaller after they are typeset
    cut = page.locator('main mjx-container[display="true"]').evaluate_all(
        "all => all.filter(f => f.checkVisibility() && f.scrollWidth > f.clientWidth + 1).length"
    )
    assert cut == 0


def test_pages_have_addresses_and_previews(visit):
    """Of their own, and the map of the book lists them."""
    page, _ = visit("notebooks/02_theorem_1.html", DESKTOP)
    canonical = page.locator("link[rel=canonical]").get_attribute("href")
    assert canonical.endswith("/notebooks/02_theorem_1.html")
    assert f"<loc>{canonical}</loc>" in (HTML / "sitemap.xml").read_text(encoding="utf-8")
    for name in ("meta[name=description]", "meta[property='og:description']"):
        assert 60 < len(page.locator(name).get_attribute("content")) <= 200


def test_a_tap_enlarges_a_figure(visit):
    """On a telephone, and a second one makes it small again; the page itself does not scroll."""
    page, _ = visit("notebooks/05_methods.html", TELEPHONE)
    picture = page.locator("main .cell_output img").first
    widths = [picture.bounding_box()["width"]]
    for _ in range(2):
        picture.click()
        widths.append(picture.bounding_box()["width"])
    assert widths[0] == widths[2] < TELEPHONE < 700 < widths[1]
    picture.click()
    beyond = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(beyond) <= 0
