"""The paper's experiments: running them, resuming, spreading them, recording their results."""

from pu_utils.reproduction.claims import golden_area
from pu_utils.reproduction.compute import compute
from pu_utils.reproduction.experiment import FIGURE_2, Experiment, grid
from pu_utils.reproduction.families import FAMILIES, Decision, Family
from pu_utils.reproduction.notebook import expected_time, output_folder, rerun
from pu_utils.reproduction.results import (
    collect,
    read_estimates,
    read_experiments,
    read_results,
    record_estimates,
    recorded_seconds,
    verify,
)
from pu_utils.reproduction.runner import run
from pu_utils.reproduction.tables import by_seed

__all__ = [
    "FAMILIES", "FIGURE_2", "Decision", "Experiment", "Family", "by_seed", "collect", "compute",
    "expected_time", "golden_area", "grid", "output_folder", "read_estimates", "read_experiments",
    "read_results", "record_estimates", "recorded_seconds", "rerun", "run", "verify",
]  # fmt: skip
