"""The repository keeps its promises: pins agree, notebooks are recorded, addresses are in step."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from book_extensions import extension
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PYTHONS = ("3.11", "3.12", "3.13")
LOCKED_EXTRAS = ("book", "test", "cluster")
URL = yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]["url"]
NEW_ADDRESS = f"{URL.rsplit('/', 2)[0]}/someone/their-book"
addresses = extension("addresses")


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


def test_pip_itself_is_pinned_and_recent():
    """Python brings a pip of its own age; what installs the rest is chosen too, and comes first."""
    assert int(pins("3.11")["pip"].split(".")[0]) >= 26
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
    assert listed == sorted(listed)


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
def checkout(tmp_path, monkeypatch):
    """A copy of what the repository tracks, but for its results, to work in."""
    command = ["git", "ls-files", "-z", "--", ":!results", ":!pu_utils"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for name in filter(lambda name: (ROOT / name).exists(), listed.split("\0")[:-1]):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "--all"], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def texts(folder):
    """Every tracked file's bytes."""
    files = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path: path.read_bytes() for path in files}


def set_repo(address):
    """The script on addresses, run in the current folder."""
    command = [sys.executable, ROOT / "book" / "set_repo.py", address]
    return subprocess.run(command, capture_output=True, text=True)


def test_set_repo_rewrites_every_address_and_back(checkout):
    """After the command no file holds the old address; the old one again restores every byte."""
    before = texts(checkout)
    assert "_config.yml" in set_repo(NEW_ADDRESS).stdout
    after = texts(checkout)
    assert not [path for path, text in after.items() if URL.encode() in text]
    for path in checkout.glob("notebooks/*.ipynb"):
        assert f"{NEW_ADDRESS}\\n" in path.read_text() and "%cd -q their-book/" in path.read_text()
    assert set_repo(URL).returncode == 0
    assert texts(checkout) == before


@pytest.mark.parametrize("address", ["git@example.org:book", "https://github.com/a/b.git"])
def test_set_repo_refuses_other_addresses(address, checkout):
    """An address that Colab cannot open is refused with the form it must have; nothing changes."""
    before = texts(checkout)
    refused = set_repo(address)
    assert refused.returncode == 1 and "https://github.com/OWNER/NAME" in refused.stderr
    assert texts(checkout) == before


def test_addresses_are_in_step():
    """Metadata and pages repeat the address of _config.yml."""
    for name in ("README.md", "CITATION.cff", "pyproject.toml", "book/rerun.md"):
        assert URL in (ROOT / name).read_text(encoding="utf-8"), name


@pytest.mark.parametrize(
    ("repository", "book"),
    [
        ("https://github.com/Some-One/Book", "https://some-one.github.io/Book/"),
        ("https://github.com/Some-One/some-one.github.io", "https://some-one.github.io/"),
    ],
)
def test_book_address_is_that_of_github_pages(repository, book):
    """A repository that is called like the owner's site is the site itself."""
    assert addresses.book_address(repository) == book


@pytest.fixture
def config():
    """What Sphinx knows of the addresses when a build begins."""
    buttons = {"launch_buttons": {"colab_url": "c"}, "use_repository_button": True}
    options = {"repository_url": "https://github.com/your-name/a", "use_issues_button": True}
    return SimpleNamespace(html_theme_options=options | buttons, html_baseurl="")


def test_no_button_leads_to_a_placeholder(config, monkeypatch):
    """Nobody is there to open a notebook or an issue."""
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    addresses.set_address(None, config)
    options = config.html_theme_options
    assert not options["launch_buttons"]
    assert not options["use_repository_button"] and not options["use_issues_button"]


def test_the_workflow_knows_the_address(config, monkeypatch):
    """The book that it builds opens its own repository, whatever the configuration says."""
    monkeypatch.setenv("GITHUB_REPOSITORY", "some/book")
    addresses.set_address(None, config)
    assert config.html_theme_options["repository_url"] == "https://github.com/some/book"
    assert config.html_theme_options["launch_buttons"] and config.html_baseurl.endswith("io/book/")


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
