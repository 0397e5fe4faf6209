"""The report on a table of one's own, as a reader's browser shows it."""

import pytest

from pu_utils.__main__ import main
from tests.browser.test_pages import READERS, TOO_WIDE
from tests.own_data.conftest import PRIOR, make_people

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report with warnings and long names, which is what may not fit."""
    folder = tmp_path_factory.mktemp("report")
    people, _ = make_people()
    people.loc[0, "score"] = float("inf")
    people["a_name_" * 12] = people["age"] ** 2
    people.to_csv(folder / "people.csv", index=False)
    files = {"--output": "ranked.csv", "--report": "report.html"}
    paths = [part for option, name in files.items() for part in (option, str(folder / name))]
    options = ["--label", "found", "--prior", str(PRIOR), "--method", "upu"]
    assert main(["rank", str(folder / "people.csv"), *options, *paths]) == 0
    return folder / "report.html"


@pytest.mark.parametrize(("width", "scheme"), READERS)
def test_report(width, scheme, report, browser):
    """Nothing comes from outside, nothing overflows, and axe finds nothing to complain of."""
    from axe_playwright_python.sync_playwright import Axe

    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: asked.append(message.text))
    page.goto(report.as_uri())
    assert asked == [report.as_uri()]
    assert page.evaluate(TOO_WIDE) <= 0, "the page scrolls sideways"
    violations = Axe().run(page).response["violations"]
    assert [(found["id"], found["nodes"][0]["html"]) for found in violations] == []
    context.close()
