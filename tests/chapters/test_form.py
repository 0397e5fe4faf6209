"""Every chapter opens on Colab and reads well where nobody knows MyST: in JupyterLab, on GitHub."""

import json
import re
from pathlib import Path

import pytest
import yaml
from IPython.core.inputtransformer2 import TransformerManager

ROOT = Path(__file__).parents[2]
URL = yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]["url"]
BOOT = f"""\
import sys

if "google.colab" in sys.modules:  # fetch the book and its module; Colab keeps its own torch
    !git clone --quiet --depth 1 {URL}
    %cd -q {URL.rsplit("/", 1)[1]}/notebooks
    %pip install --quiet .."""
FOLDED = re.compile(r"<details>\s*<summary>[^\n]*</summary>\n\n.*?\n\n</details>", re.DOTALL)


def cells(path):
    """Kind, tags, metadata, text and kinds of output of each cell."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        shown = {kind for output in cell.get("outputs", []) for kind in output.get("data", {})}
        tags = cell["metadata"].get("tags", [])
        yield cell["cell_type"], tags, cell["metadata"], "".join(cell["source"]), shown


def each(paths):
    """Run a test once per notebook."""
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.stem)


NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
each_notebook = each(NOTEBOOKS)


@each_notebook
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


@each_notebook
def test_chapter_reads_well_raw(path):
    """No directive shows as code, no role but a citation, and solutions wait to be asked for."""
    for kind, _, _, text, _ in cells(path):
        if kind == "markdown":
            assert raw_markup(text) == []
            assert len(FOLDED.findall(text)) == text.count("<details"), "blank lines around it"


def test_raw_markup_is_found():
    """And a colon fence, a citation, a link and a listing are not taken for it."""
    for bad in ("```{note}\nHm.\n```", "See {ref}`a <b>`.", "{term}`cell`", ":class: dropdown"):
        assert len(raw_markup(bad)) == 1
    fine = ":::{note}\nHm.\n:::\n{cite:t}`Someone2024`, [there](there.ipynb)\n"
    assert raw_markup(fine + "```python\nx = {1}\n```\n") == []


@each_notebook
def test_figures_have_alternative_text(path):
    """Each cell that shows a figure says in words what it shows, and none is a bitmap."""
    for _, _, metadata, _, shown in cells(path):
        assert "image/png" not in shown, "run `make rerun`: figures are SVG"
        if "image/svg+xml" in shown:
            assert len(metadata["mystnb"]["image"]["alt"]) > 60


@each_notebook
def test_chapters_that_train_ask_for_a_gpu(path):
    """Colab honours it."""
    code = "\n".join(text for kind, _, _, text, _ in cells(path) if kind == "code")
    if re.search(r"\bVaePu\w*\(", code) and ".fit(" in code:
        metadata = json.loads(path.read_text(encoding="utf-8"))["metadata"]
        assert metadata.get("accelerator") == "GPU"
