"""Chapters on a machine like Colab's: its packages, its folders, and a boot cell to begin with.

``make colab`` makes the environment. Colab itself has a newer Python and a torch for its GPU.
"""

import json
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from pu_utils.repository import set_repository

pytestmark = pytest.mark.colab
ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv" / "colab" / "bin" / "python"
ADDRESS = "https://github.com/someone/their-book"
# The kernel of Colab has google.colab loaded before the first cell. Here its drive is a folder, and
# its user uploads nothing and downloads into a folder, too.
STAND_IN = """
import os, shutil

class drive:
    def mount(path):
        os.makedirs(os.path.join(path, "MyDrive"), exist_ok=True)

class files:
    def upload():
        return {}

    def download(path):
        shutil.copy(path, os.environ["DOWNLOADS"])
"""
# Three seeds of the chapter's grid become one experiment of each of two methods.
SWITCH = {
    "RERUN = False": "RERUN = True",
    '"seeds": range(3)': '"seeds": range(1), "datasets": ["synth_1"], "label_frequencies": [0.5],'
    ' "families": ["reference", "elkan_noto"]',
}


def versions():
    """Every package of the environment but ours, with its version."""
    command = [PYTHON, "-m", "pip", "list", "--format=json"]
    listed = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return {one["name"]: one["version"] for one in listed if one["name"] != "pu_utils"}


def git(folder, *arguments):
    """What a git command prints."""
    author = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org"]
    command = ["git", "-C", str(folder), *author, *arguments]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()


@pytest.fixture(scope="module")
def colab(tmp_path_factory):
    """The machine: its folder, which is /content there, and the fork of the book that it clones."""
    machine = tmp_path_factory.mktemp("colab")
    fork, content, kernel = (machine / name for name in ("fork", "content", "kernels/colab"))
    for folder in (content, kernel, machine / "downloads", machine / "site" / "google"):
        folder.mkdir(parents=True)
    for name in git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard").splitlines():
        (fork / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, fork / name)
    set_repository(ADDRESS, fork)
    for path in [*fork.glob("notebooks/*.ipynb"), fork / "pu_utils/reproduction/notebook.py"]:
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("/content/", f"{content}/"), encoding="utf-8")
    git(fork, "init", "--quiet")
    git(fork, "add", "--all")
    git(fork, "commit", "--quiet", "--message", "The book")
    (machine / "site" / "google" / "colab.py").write_text(STAND_IN)
    (machine / "site" / "sitecustomize.py").write_text("import google.colab\n")
    environment = {
        "PYTHONPATH": str(machine / "site"),
        "DOWNLOADS": str(machine / "downloads"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{fork}.insteadOf",
        "GIT_CONFIG_VALUE_0": ADDRESS,
        "PU_DATA_DIR": str(content / "data"),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    }
    specification = {
        "argv": [str(PYTHON), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Colab",
        "language": "python",
        "env": environment,
    }
    (kernel / "kernel.json").write_text(json.dumps(specification))
    return machine


def run(machine, chapter, changes=None):
    """The executed notebook of a chapter, opened as Colab does: alone, outside of the book."""
    text = (machine / "fork" / "notebooks" / f"{chapter}.ipynb").read_text(encoding="utf-8")
    recorded = nbformat.reads(text, as_version=4)
    for old, new in (changes or {}).items():
        holders = [
            cell for cell in recorded.cells if old in cell.source and cell.cell_type == "code"
        ]
        assert len(holders) == 1, f"{chapter} has changed: {old!r} is in {len(holders)} cells"
        holders[0].source = holders[0].source.replace(old, new)
    resources = {"metadata": {"path": str(machine / "content")}}
    return NotebookClient(recorded, timeout=600, kernel_name="colab", resources=resources).execute()


def printed(cell):
    """Everything that a cell has written."""
    return "".join(output.get("text", "") for output in cell.outputs)


@pytest.fixture(autouse=True)
def colab_kernel(colab, monkeypatch):
    """Jupyter finds the kernel of the machine."""
    monkeypatch.setenv("JUPYTER_PATH", str(colab))


def test_boot_cell_brings_the_book_and_keeps_the_packages(colab):
    """It can be run again, and changes no version of what Colab has."""
    before = versions()
    only = "import pu_utils; print(pu_utils.__file__)"
    for _ in range(2):
        boot = nbformat.reads(
            (colab / "fork/notebooks/01_the_idea.ipynb").read_text(encoding="utf-8"),
            as_version=4,
        )
        boot.cells = [boot.cells[0], nbformat.v4.new_code_cell(only)]
        NotebookClient(
            boot, kernel_name="colab", resources={"metadata": {"path": str(colab)}}
        ).execute()
        assert str(PYTHON.parents[1]) in printed(boot.cells[1])
    after = versions()
    assert {name: after[name] for name in before} == before


def test_chapter_runs(colab):
    """From its first cell to its last, whose asserts hold with older packages too."""
    executed = run(colab, "01_the_idea")
    assert all(cell.execution_count for cell in executed.cells if cell.cell_type == "code")


def test_chapter_for_data_of_ones_own_runs(colab):
    """It takes its example where nothing is uploaded, and gives back the list and the report."""
    run(colab, "19_your_own_data")
    given = {path.name for path in (colab / "downloads").iterdir()}
    assert given == {"your_list.csv", "your_report.html"}


def test_chapter_runs_with_its_rerun_switch_on(colab):
    """The experiments are computed, kept on the drive, and shown in the chapter's tables."""
    executed = run(colab, "11_synthetic", SWITCH)
    (cell,) = (cell for cell in executed.cells if cell.source.startswith("RERUN = True"))
    assert "2 of 2 experiments are left" in printed(cell)
    assert sum("text/html" in output.get("data", {}) for output in cell.outputs) == 4
    assert list((colab / "content/drive/MyDrive/pu-book/results").glob("*.csv"))
