"""The published tables, as data."""

from pathlib import Path

import pandas as pd

PUBLISHED = Path(__file__).parent / "published" / "tables.csv"


def published():
    """The 960 published figures, one per row.

    Returns
    -------
    pandas.DataFrame
        ``table``, ``metric`` (as named in :mod:`pu_utils.metrics`), ``dataset`` (as named in
        :mod:`pu_utils.data`), ``label_frequency``, ``method``, ``mean`` and ``se`` in per cent,
        and ``bold``, whether the paper prints the figure in bold.

    Examples
    --------
    >>> len(published())
    960
    """
    return pd.read_csv(PUBLISHED).astype({"bold": bool})
