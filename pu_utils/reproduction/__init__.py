"""The paper's experiments: running them, recording them, and reading what was recorded."""

from .claims import golden_area, judge, judge_recorded, scoreboard, sign_test
from .experiment import FIGURE_2, LABEL_FREQUENCIES, Experiment, grid
from .families import FAMILIES, Decision, Family
from .prophets import beside_published, prophet_decisions, prophet_numbers
from .rendering import to_html, verdicts_html
from .results import collect, read_estimates, read_experiments, read_results, recorded_seconds
from .runs import compute, expected_time, record_estimates, rerun, run, verify
from .tables import (
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
