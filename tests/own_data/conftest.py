"""A small table of people, and the command run on it."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from pu_utils import own_data
from pu_utils.__main__ import main

PRIOR = 0.4


def make_people(n=400, seed=0):
    """Numbers, a category, a date, gaps, an identifier and labels "yes" or blank; and the truth."""
    rng = np.random.default_rng(seed)
    age, score = rng.integers(18, 90, n), rng.normal(size=n).round(3)
    school = rng.choice(["low", "middle", "high"], n)
    y = rng.random(n) < expit(2 * score + 0.05 * (age - 55) - 0.7)
    s = y & (rng.random(n) < np.where(school == "high", 0.8, 0.3))
    people = pd.DataFrame({
        "person_id": [f"{k:05d}" for k in range(n)],
        "age": age,
        "score": np.where(rng.random(n) < 0.1, np.nan, score),
        "school": pd.Series(school).mask(rng.random(n) < 0.1),
        "seen": (pd.Timestamp("2024-01-01") + pd.to_timedelta(age, unit="D")).strftime("%Y-%m-%d"),
        "found": np.where(s, "yes", ""),
    })  # fmt: skip
    return people, y


@pytest.fixture
def people():
    """The table alone."""
    return make_people()[0]


@pytest.fixture
def linear(monkeypatch):
    """One kind of model, where a test is not about the choice."""
    monkeypatch.setattr(own_data, "CLASS_MODELS", {"linear": "logistic"})


@pytest.fixture
def rank(tmp_path, monkeypatch, capsys):
    """Run the command in an empty folder on a table (or bytes), and look at what it wrote."""
    monkeypatch.chdir(tmp_path)

    def run(table, *options, file="people.csv", label="found", prior=PRIOR, overwrite=True):
        if isinstance(table, pd.DataFrame):
            table.to_csv(file, index=False)
        elif isinstance(table, bytes):
            (tmp_path / file).write_bytes(table)
        told = ["--label", label, "--prior", str(prior), *["--overwrite"] * overwrite]
        status = main(["rank", file, *told, *map(str, options)])
        out, err = capsys.readouterr()
        result = SimpleNamespace(status=status, out=out, err=err, folder=tmp_path)
        if (tmp_path / "ranked.csv").exists():
            result.ranked = pd.read_csv(tmp_path / "ranked.csv", dtype={0: str})
        return result

    return run
