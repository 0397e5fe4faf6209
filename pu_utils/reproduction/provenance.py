"""Where a result comes from: package versions, processor, commit."""

import platform
import subprocess
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("numpy", "scipy", "scikit-learn", "torch")
PACKAGE_FOLDER = Path(__file__).parents[1]


@lru_cache
def provenance():
    """Versions, processor and commit of this process, as a dictionary."""
    versions = {"python": platform.python_version()} | {name: _version(name) for name in PACKAGES}
    return {"versions": versions, "processor": _processor(), "commit": _commit(PACKAGE_FOLDER)}


def _version(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor():
    """The processor's name, where the system tells it."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _commit(folder):
    """Commit of the checkout that ``folder`` belongs to, or None; "-dirty" if it was changed."""
    try:
        # an installed package may lie inside a foreign checkout, which does not track it
        _git(folder, "ls-files", "--error-unmatch", "__init__.py")
        return _git(folder, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(folder, *arguments):
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
