"""Cells of the experiments: running them, resuming, spreading them, recording their results."""

from pu_utils.experiments.cells import Cell, grid
from pu_utils.experiments.costs import (
    duration,
    elapsed_seconds,
    estimated_gpu_seconds,
    expected_seconds,
    recorded_seconds,
)
from pu_utils.experiments.counting import operations, parts
from pu_utils.experiments.engine import run
from pu_utils.experiments.recorded import (
    collect,
    read_cells,
    read_estimates,
    read_metrics,
    record_estimates,
    verify,
)
from pu_utils.experiments.rerunning import output_folder, rerun
from pu_utils.experiments.science import compute

__all__ = [
    "Cell",
    "collect",
    "compute",
    "duration",
    "elapsed_seconds",
    "estimated_gpu_seconds",
    "expected_seconds",
    "grid",
    "operations",
    "output_folder",
    "parts",
    "read_cells",
    "read_estimates",
    "read_metrics",
    "record_estimates",
    "recorded_seconds",
    "rerun",
    "run",
    "verify",
]
