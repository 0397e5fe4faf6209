"""The paper's experiments: running them, recording them, and reading what was recorded."""

from pu_utils.reproduction.claims import (
    golden_area,
    judge,
    judge_recorded,
    scoreboard,
    sign_test,
)
from pu_utils.reproduction.experiment import FIGURE_2, LABEL_FREQUENCIES, Experiment, grid
from pu_utils.reproduction.families import FAMILIES, Decision, Family
from pu_utils.reproduction.prophets import beside_published, prophet_decisions, prophet_numbers
from pu_utils.reproduction.rendering import to_html, verdicts_html
from pu_utils.reproduction.results import (
    collect,
    read_estimates,
    read_experiments,
    read_results,
    recorded_seconds,
)
from pu_utils.reproduction.runs import (
    compute,
    expected_time,
    record_estimates,
    rerun,
    run,
    verify,
)
from pu_utils.reproduction.tables import (
    by_seed,
    compare,
    holm,
    numbers,
    paired,
    published,
    published_datasets,
    seeds_run,
    split_gain,
)

__all__ = [
    "FAMILIES", "FIGURE_2", "LABEL_FREQUENCIES", "Decision", "Experiment", "Family",
    "beside_published", "by_seed", "collect", "compare", "compute", "expected_time", "golden_area",
    "grid", "holm", "judge", "judge_recorded", "numbers", "paired", "prophet_decisions",
    "prophet_numbers", "published", "published_datasets", "read_estimates", "read_experiments",
    "read_results", "record_estimates", "recorded_seconds", "rerun", "run", "scoreboard",
    "seeds_run", "sign_test", "split_gain", "to_html", "verdicts_html", "verify",
]  # fmt: skip
