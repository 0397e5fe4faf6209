"""The published tables come with the package."""

from pu_utils import metrics
from pu_utils.data import NAMES, REAL
from pu_utils.tables import published, published_datasets


def test_published_has_all_figures():
    """960 figures: sets and metrics as this package names them, means in per cent."""
    figures = published()
    assert len(figures) == 960
    assert set(figures["dataset"]) == set(NAMES)
    assert all(hasattr(metrics, metric) for metric in set(figures["metric"]))
    assert set(figures["label_frequency"]) == {0.02, 0.1, 0.3, 0.5, 0.7, 0.9}
    assert figures["mean"].between(0, 100).all()
    assert (figures["se"] >= 0).all()
    assert figures["bold"].sum() == 280


def test_repeated_figures_agree():
    """What the paper prints in two tables is the same figure in both."""
    keys = ["metric", "dataset", "label_frequency", "method"]
    assert (published().groupby(keys)["mean"].nunique() == 1).all()


def test_published_datasets_are_table_a1():
    """Six real sets, by the names that `load` knows."""
    table = published_datasets()
    assert tuple(table["dataset"]) == tuple(REAL)
    assert table.set_index("dataset").loc["cdc_diabetes", "samples"] == 148_458
