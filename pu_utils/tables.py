"""The published tables, as data."""

from pathlib import Path

import pandas as pd

PUBLISHED = Path(__file__).parent / "published"


def published():
    """The 960 published figures, one per row.

    Returns
    -------
    pandas.DataFrame
        ``table``, ``metric`` (as named in ``pu_utils.metrics``), ``dataset`` (as named in
        ``pu_utils.data``), ``label_frequency``, ``method``, ``mean`` and ``se`` in per cent,
        and ``bold``, whether the paper prints the figure in bold.

    Examples
    --------
    >>> len(published())
    960
    """
    return pd.read_csv(PUBLISHED / "tables.csv").astype({"bold": bool})


def published_datasets():
    """Table A1 of the paper: samples, features and class prior of the real sets.

    Returns
    -------
    pandas.DataFrame
        ``dataset``, ``samples``, ``features``, ``prior``.

    Examples
    --------
    >>> len(published_datasets())
    6
    """
    return pd.read_csv(PUBLISHED / "datasets.csv")
