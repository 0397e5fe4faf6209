"""Every chapter opens on Colab and reads well where nobody knows MyST: in JupyterLab, on GitHub."""

import json
import re
from pathlib import Path

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from pu_utils.repository import repository_url

ROOT = Path(__file__).parents[2]
BOOT = f"""\
import sys

if "google.colab" in sys.modules:  # fetch the book and its module; Colab keeps its own torch
    !git clone --quiet --depth 1 {repository_url(ROOT)}
    %cd -q {repository_url(ROOT).rsplit("/", 1)[1]}/notebooks
    %pip install --quiet .."""


def cells(path):
    """Kind, tags, metadata, text and kinds of output of each cell."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        shown = {kind for output in cell.get("outputs", []) for kind in output.get("data", {})}
        tags = cell["metadata"].get("tags", [])
        yield cell["cell_type"], tags, cell["metadata"], "".join(cell["source"]), shown


def opens_with_a_badge(path):
    """Whether a notebook still has the form that chapters had before they ran their experiments."""
    return next(cells(path))[0] == "markdown"


NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
each_chapter = pytest.mark.parametrize(
    "path", [p for p in NOTEBOOKS if not opens_with_a_badge(p)], ids=lambda path: path.stem
)


@each_chapter
def test_chapter_opens_with_the_boot_cell(path):
    """It alone may differ between machines, but for two cells that train."""
    (kind, tags, _, source, _), *rest = cells(path)
    assert (kind, source, tags) == ("code", BOOT, ["remove-cell", "nbval-ignore-output"])
    others = [tag for _, tags, *_ in rest for tag in tags if "nbval" in tag or "skip" in tag]
    assert set(others) <= {"nbval-ignore-output"} and len(others) <= 2


def test_boot_cell_does_nothing_here(capfd):
    """Where the machine is not Colab's."""
    exec(TransformerManager().transform_cell(BOOT), {})
    assert capfd.readouterr() == ("", "")


def raw_markup(text):
    """What a plain Markdown reader shows as code or gives away: directives, roles, solutions."""
    fences = re.findall(r"^`{3,}\{[^\n]*", text, flags=re.MULTILINE)
    roles = re.findall(r"\{(?!cite)[\w:]+\}`[^`]*`", text)
    return [*fences, *roles, *re.findall(":class: dropdown", text)]


@each_chapter
def test_chapter_reads_well_raw(path):
    """No directive shows as code, no role but a citation, and solutions wait to be asked for."""
    for kind, _, _, text, _ in cells(path):
        if kind == "markdown":
            assert raw_markup(text) == []
            assert text.count("<details><summary>") == text.count("</details>")


def test_raw_markup_is_found():
    """And a colon fence, a citation, a link and a listing are not taken for it."""
    for bad in ("```{note}\nHm.\n```", "See {ref}`a <b>`.", "{term}`cell`", ":class: dropdown"):
        assert len(raw_markup(bad)) == 1
    fine = ":::{note}\nHm.\n:::\n{cite:t}`Someone2024`, [there](there.ipynb)\n"
    assert raw_markup(fine + "```python\nx = {1}\n```\n") == []


@each_chapter
def test_figures_have_alternative_text(path):
    """Each cell that shows a figure says in words what it shows, and none is a bitmap."""
    for _, _, metadata, _, shown in cells(path):
        assert "image/png" not in shown, "run `make rerun`: figures are SVG"
        if "image/svg+xml" in shown:
            assert len(metadata["mystnb"]["image"]["alt"]) > 60
