"""Cells of the experiments: running them, resuming, spreading them, recording their results."""

from pu_utils.experiments.cells import Cell, grid
from pu_utils.experiments.engine import run
from pu_utils.experiments.recorded import (
    collect,
    read_cells,
    read_estimates,
    read_metrics,
    record_estimates,
    verify,
)
from pu_utils.experiments.science import compute

__all__ = [
    "Cell",
    "collect",
    "compute",
    "grid",
    "read_cells",
    "read_estimates",
    "read_metrics",
    "record_estimates",
    "run",
    "verify",
]
