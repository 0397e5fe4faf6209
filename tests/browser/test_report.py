"""The report on a table of one's own, as a reader's browser shows it."""

import pytest

from pu_utils.own_data import rank
from tests.browser.test_pages import READERS, TOO_WIDE, serious_violations
from tests.own_data.conftest import PRIOR, make_people

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report with warnings and long names, which is what may not fit."""
    folder = tmp_path_factory.mktemp("report")
    people, _ = make_people()
    people["a_name_" * 12] = people["age"] ** 2
    people.to_csv(folder / "people.csv", index=False)
    files = [str(folder / name) for name in ("people.csv", "ranked.csv", "report.html")]
    rank(files[0], "found", PRIOR, files[1], report=files[2])
    return folder / "report.html"


@pytest.mark.parametrize(("width", "scheme"), READERS)
def test_report(width, scheme, report, browser):
    """Nothing comes from outside, nothing overflows, and axe finds nothing serious."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: asked.append(message.text))
    page.goto(report.as_uri())
    assert asked == [report.as_uri()]
    assert page.evaluate(TOO_WIDE) <= 0, "the page scrolls sideways"
    assert serious_violations(page, "body") == []
    assert page.locator("h1").count() == 1
    context.close()
