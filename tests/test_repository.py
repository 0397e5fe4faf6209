"""The repository keeps its promises: pins agree, notebooks are recorded, addresses are in step."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pu_utils.__main__ import main
from pu_utils.repository import repository_url, set_repository
from tests.chapters.test_form import NOT_YET_REWRITTEN

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PYTHONS = ("3.11", "3.12", "3.13")
LOCKED_EXTRAS = ("book", "test", "cluster")
NEW_ADDRESS = "https://github.com/someone/their-book"


def notebook(path):
    """A notebook as a dictionary."""
    return json.loads(path.read_text(encoding="utf-8"))


def source(cell):
    """A cell's text."""
    return "".join(cell["source"])


def each_notebook(test):
    """Run a test once per notebook."""
    return pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)(test)


# Pins


@pytest.fixture(scope="module")
def project():
    """The [project] table of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def requirements(project):
    """Every requirement of the package and its extras."""
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    return [Requirement(line) for group in groups for line in group]


def pins(python):
    """Name and version of each pin in constraints.txt that applies to a Python version."""
    environment = default_environment() | {"python_version": python}
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    parsed = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {
        canonicalize_name(pin.name): str(pin.specifier).removeprefix("==")
        for pin in parsed
        if pin.marker is None or pin.marker.evaluate(environment)
    }


@pytest.mark.parametrize("python", PYTHONS)
def test_constraints_pin_every_requirement(python, requirements):
    """Each requirement of pyproject.toml has one exact pin that satisfies it, for each Python."""
    pinned = pins(python)
    for requirement in requirements:
        version = pinned.get(canonicalize_name(requirement.name))
        assert version is not None, f"constraints.txt does not pin {requirement.name}"
        assert requirement.specifier.contains(version), f"{requirement} excludes {version}"


def test_environment_yml_repeats_the_pins(project, requirements):
    """environment.yml lists the requirements of pyproject.toml with the pins of constraints.txt."""
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    (python,) = (d.split("=")[1] for d in environment if str(d).startswith("python="))
    (pip,) = (d["pip"] for d in environment if isinstance(d, dict))
    listed = dict(line.split("==") for line in pip if "==" in line)
    wanted = {canonicalize_name(r.name) for r in requirements}
    assert listed == {name: version for name, version in pins(python).items() if name in wanted}
    assert "--constraint constraints.txt" in pip and "--editable ." in pip
    assert python in PYTHONS and Requirement(f"p{project['requires-python']}").specifier.contains(
        python
    )


def test_pip_itself_is_pinned_and_recent():
    """Python brings a pip of its own age; what installs the rest is chosen too, and comes first."""
    version = pins("3.11")["pip"]
    assert int(version.split(".")[0]) >= 26
    assert (
        f"pip={version}" in yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    )
    recipe = (ROOT / "Makefile").read_text().split("$(READY): pyproject.toml")[1]
    installs = re.findall(r"pip install .*", recipe)
    assert "--upgrade pip" in installs[0] and "--constraint constraints.txt" in installs[0]


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_holds_the_pins_with_hashes(python, project):
    """What `make` installs, but for torch, has a version that is the pin's, and hashes."""
    environment = default_environment() | {
        "python_version": python, "python_full_version": f"{python}.9"
    }  # fmt: skip
    locked = {}
    for entry in (ROOT / "requirements.lock").read_text().replace("\\\n", " ").splitlines():
        text, *hashes = entry.split(" --hash=")
        requirement = Requirement(text)
        assert hashes and all(re.fullmatch("sha256:[0-9a-f]{64}", one.strip()) for one in hashes)
        if requirement.marker is None or requirement.marker.evaluate(environment):
            version = str(requirement.specifier).removeprefix("==")
            locked[canonicalize_name(requirement.name)] = version
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(line for x in LOCKED_EXTRAS for line in extras[x])]
    assert {canonicalize_name(Requirement(line).name) for line in wanted} <= set(locked)
    pinned = pins(python)
    assert {name: pinned.get(name) for name in locked} == locked and "torch" not in locked


def test_torch_stays_optional(project):
    """Colab keeps its own torch: it is no requirement of the bare package."""
    assert not any(Requirement(line).name == "torch" for line in project["dependencies"])
    assert any("torch" in line for line in project["optional-dependencies"]["torch"])


def test_no_recipe_opens_a_scheduler_to_everybody():
    """It executes what it is sent: bound to this machine, or with TLS."""
    page = (ROOT / "book" / "experiments.md").read_text(encoding="utf-8")
    recipes = re.findall(r"`dask (?:scheduler|ssh)\b[^`]*`|`SLURMCluster[^`]*`", page)
    safe = [r for r in recipes if "127.0.0.1" in r or "tls" in r or r == "`dask scheduler`"]
    assert len(recipes) > 3 and safe == recipes and "```{warning}" in page


# Notebooks


@each_notebook
def test_notebook_is_recorded_in_order(path):
    """Strict nbval compares nothing in a cell that was not run: each must be, in order."""
    code = [cell for cell in notebook(path)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert not [output for output in outputs if output["output_type"] == "error"]
    assert not [output for output in outputs if output.get("name") == "stderr"]  # no warnings shown


def test_every_notebook_is_in_the_book():
    """The table of contents lists each once; chapters and appendices in their order."""
    listed = re.findall(r"file: notebooks/(\S+)", (ROOT / "_toc.yml").read_text())
    assert sorted(listed) == [path.stem for path in NOTEBOOKS]
    rewritten = [stem for stem in listed if stem not in NOT_YET_REWRITTEN]
    assert rewritten == sorted(rewritten)


def test_a_changed_result_fails(tmp_path):
    """Strict nbval, called as `make test` does, passes what is printed and fails another digit."""
    for name, digit in (("same", 3), ("changed", 4)):
        output = {"output_type": "stream", "name": "stdout", "text": f"risk on S=0: 1/{digit}\n"}
        cell = {"cell_type": "code", "execution_count": 1, "outputs": [output], "metadata": {}}
        cell |= {"id": "risk", "source": 'print("risk on S=0: 1/3")'}
        whole = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        (tmp_path / f"{name}.ipynb").write_text(json.dumps(whole))
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "conftest"]
    command += ["--nbval", "-rA", "--nbval-current-env", "--nbval-sanitize-with"]
    command += [str(ROOT / "tests" / "nbval_sanitize.cfg"), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and "1 failed, 1 passed" in done.stdout, done.stdout
    assert re.search(r"FAILED .*changed.ipynb", done.stdout) and "mismatch" in done.stdout


# Addresses


@pytest.fixture
def copied_repository(tmp_path):
    """The files that hold the repository's address."""
    for pattern in ("_config.yml", "README.md", "CITATION.cff", "pyproject.toml"):
        shutil.copy(ROOT / pattern, tmp_path)
    for folder in ("book", "notebooks"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def test_set_repo_rewrites_every_address(copied_repository, monkeypatch, capsys):
    """After the command no file holds the old address, and the configuration holds the new one."""
    old = repository_url(copied_repository).removeprefix("https://github.com/")
    monkeypatch.chdir(copied_repository)
    assert main(["set-repo", NEW_ADDRESS]) == 0
    assert "_config.yml" in capsys.readouterr().out
    assert repository_url(copied_repository) == NEW_ADDRESS
    texts = [
        p for p in copied_repository.rglob("*") if p.suffix in {".md", ".yml", ".toml", ".cff"}
    ]
    for path in [*texts, *copied_repository.glob("notebooks/*.ipynb")]:
        assert old not in path.read_text(encoding="utf-8"), path
    boot = (copied_repository / "notebooks" / "01_the_idea.ipynb").read_text(encoding="utf-8")
    assert f"{NEW_ADDRESS}\\n" in boot and "%cd -q their-book/notebooks" in boot  # what it clones


def test_set_repo_and_back_changes_nothing(copied_repository):
    """Setting a new address and the old one again restores every byte."""
    before = {p: p.read_bytes() for p in copied_repository.rglob("*") if p.is_file()}
    old = repository_url(copied_repository)
    assert set_repository(f"{NEW_ADDRESS}.git", copied_repository)
    set_repository(old, copied_repository)
    assert {path: path.read_bytes() for path in before} == before


def test_set_repo_refuses_other_addresses(copied_repository, monkeypatch, capsys):
    """An address that Colab cannot open is refused with the form it must have; nothing changes."""
    monkeypatch.chdir(copied_repository)
    before = (copied_repository / "README.md").read_text()
    assert main(["set-repo", "git@example.org:book"]) == 1
    assert "https://github.com/OWNER/NAME" in capsys.readouterr().err
    assert (copied_repository / "README.md").read_text() == before


@pytest.mark.parametrize("name", ["../..", "a/..", "a/b.", "a/b.git.git", "a b/c", "ü/b", "a/b\n"])
def test_set_repo_refuses_what_is_no_name(name, copied_repository):
    """Neither a way out of the site nor a name that could not be told from what follows it."""
    with pytest.raises(ValueError, match="it must read"):
        set_repository(f"https://github.com/{name}", copied_repository)


def test_set_repo_refuses_a_way_without_return(copied_repository):
    """``main/notebooks`` stands in every badge already: nothing is written."""
    before = {p: p.read_bytes() for p in copied_repository.rglob("*") if p.is_file()}
    with pytest.raises(ValueError, match="no way back"):
        set_repository("https://github.com/main/notebooks", copied_repository)
    assert {path: path.read_bytes() for path in before} == before


def test_set_repo_reads_everything_before_it_writes(copied_repository):
    """A page that cannot be read leaves all others as they are."""
    page = copied_repository / "notebooks" / "99.ipynb"
    page.write_bytes(b"\xff")
    before = {p: p.read_bytes() for p in copied_repository.rglob("*") if p.is_file()}
    with pytest.raises(ValueError, match="utf-8"):
        set_repository(NEW_ADDRESS, copied_repository)
    assert {path: path.read_bytes() for path in before} == before


def test_set_repo_goes_on_after_an_accident(copied_repository, monkeypatch):
    """Stopped after any number of files, the same command completes the work; line ends stay."""
    (copied_repository / "README.md").write_bytes(
        (copied_repository / "README.md").read_bytes().replace(b"\n", b"\r\n")
    )
    old, write = repository_url(copied_repository).encode(), Path.write_bytes
    for n_files in (1, 5, 5):
        left = iter(range(n_files))
        monkeypatch.setattr(Path, "write_bytes", lambda *a, left=left: (next(left), write(*a)))
        with pytest.raises(StopIteration):
            set_repository(NEW_ADDRESS, copied_repository)
    monkeypatch.setattr(Path, "write_bytes", write)
    set_repository(NEW_ADDRESS, copied_repository)
    assert repository_url(copied_repository) == NEW_ADDRESS
    for path in copied_repository.rglob("*.*"):
        assert path.is_dir() or old not in path.read_bytes(), path
    assert b"\r\n" in (copied_repository / "README.md").read_bytes()


def test_set_repo_elsewhere_says_where_to_run_it(tmp_path):
    """Outside the repository the error names the remedy."""
    with pytest.raises(ValueError, match="top of the repository"):
        set_repository(NEW_ADDRESS, tmp_path)


def test_a_config_without_address_says_what_to_add(tmp_path):
    """However it lost it."""
    (tmp_path / "_config.yml").write_text("repository: {}\n")
    with pytest.raises(ValueError, match="put the repository's address there"):
        repository_url(tmp_path)


def test_addresses_are_in_step():
    """Metadata and pages repeat the address of _config.yml."""
    url = repository_url(ROOT)
    for name in ("README.md", "CITATION.cff", "pyproject.toml", "book/rerun.md"):
        assert url in (ROOT / name).read_text(encoding="utf-8"), name


# Workflow


def test_workflow_is_pinned_and_frugal():
    """Actions are pinned by commit, rights are read-only but for the publishing job."""
    text = (ROOT / ".github" / "workflows" / "book.yml").read_text()
    uses = re.findall(r"uses: \S+@(\S+)", text)
    assert uses and all(re.fullmatch(r"[0-9a-f]{40}", commit) for commit in uses)
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["jobs"]["publish"]["permissions"] == {"pages": "write", "id-token": "write"}
    assert {"run": ".ci/run"} in workflow["jobs"]["test"]["steps"]
