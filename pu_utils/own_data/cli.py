"""Rank the unlabelled rows of a table, most likely positive first.

A row is labelled where it is known to be positive; of the others nobody knows. Give the share of
positives among ALL rows (--prior) or a range of it: no data of this kind contain it. With neither,
half of the positives are taken to be labelled, and the report shows four fifths to one fifth.

Written are a ranking (--output) and a report (--report). The ranking has a line per unlabelled row:
  id         or row, its number in the file from 1
  y          probability of being positive
  e          probability that a positive like it is labelled
  s          probability of being labelled, y times e
  augmented  probability of being positive in spite of having no label
  decision   1 where it is called positive: more likely so than not, or by --cost or --budget
The report is one HTML file: what was learnt, what depends on the prior, and how to check it.

examples:
  python -m pu_utils rank people.csv --label diagnosed --prior 0.14 --budget 100
  python -m pu_utils rank people.csv --label diagnosed --prior-range 0.1 0.2 \\
      --propensity-columns Age Education --save people.joblib
  python -m pu_utils rank people.joblib --apply new_people.csv
  python -m pu_utils rank people.csv --label diagnosed --prior 0.14 --audit-sample to_check.csv
  python -m pu_utils rank people.csv --label diagnosed --prior 0.14 --audit to_check.csv
"""

import argparse
import sys
from pathlib import Path

import joblib
import pandas as pd

from pu_utils.own_data import audit
from pu_utils.own_data.model import LIST, METHODS, TableModel
from pu_utils.own_data.report import first_line, write_report
from pu_utils.own_data.table import read_table, unfamiliar

MODEL = ".joblib"
DEFAULT_METHOD = "augmented-em"
OF_FIT = ("label", "positive", "id", "prior", "prior_range", "propensity_columns", "method")


def add_parser(commands):
    """Add ``rank`` to the subparsers of the command line."""
    parser = commands.add_parser(
        "rank",
        help="rank the unlabelled rows of your own table",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("file", metavar="FILE", help=f"CSV or Parquet, or a saved model (*{MODEL})")
    add("--label", metavar="COLUMN", help="the label: 0/1, False/True, -1/1, or a value and blanks")
    add("--positive", metavar="VALUE", help="which value of the label means labelled")
    add("--id", metavar="COLUMN", help="names of the rows (found if it ends in 'id' or 'key')")
    prior = parser.add_mutually_exclusive_group()
    prior.add_argument("--prior", type=float, metavar="P", help="share of positives in all rows")
    prior.add_argument("--prior-range", type=float, nargs=2, metavar=("LOW", "HIGH"))
    add("--propensity-columns", nargs="+", metavar="COLUMN", help="what labelling depends on")
    add("--method", choices=METHODS, help=f"default: {DEFAULT_METHOD}")
    decision = parser.add_mutually_exclusive_group()
    decision.add_argument("--budget", type=int, metavar="N", help="call the first N rows positive")
    costs = "of a false positive and a false negative, such as 1:5"
    decision.add_argument("--cost", type=_odds, metavar="FP:FN", help=costs)
    add("--output", type=Path, default="ranked.csv", help="default: %(default)s")
    add("--report", type=Path, default="report.html", help="default: %(default)s")
    add("--save", type=Path, metavar="MODEL", help=f"store the model (*{MODEL})")
    add("--apply", metavar="NEW_FILE", help="rank the rows of another file instead")
    add("--audit-sample", type=Path, metavar="CSV", help="write rows to be checked by hand")
    add("--audit-width", type=float, default=0.2, metavar="W", help="of the intervals to be had")
    add("--audit", metavar="CSV", help="the checked rows: yes or no in the column 'answer'")
    add("--recalibrate", action="store_true", help="make probabilities agree with the audit")
    add("--seed", type=int, default=0, help="of all that is drawn (default: %(default)s)")
    parser.set_defaults(run=run)


def _odds(text):
    try:
        false_positive, false_negative = map(float, text.split(":"))
    except ValueError:
        false_positive = false_negative = 0
    if not (0 < false_positive < float("inf") and 0 < false_negative < float("inf")):
        raise argparse.ArgumentTypeError(f"{text!r} is not FP:FN, two positive numbers like 1:5")
    return false_positive / false_negative


def run(arguments):
    """Fit or load a model, rank, and write what was asked for."""
    _check(arguments)
    stored = arguments.file.endswith(MODEL)
    model = _loaded(arguments) if stored else _new_model(arguments)
    text = [model.label, model.id]
    own = None if stored else read_table(arguments.file, text)
    table = read_table(arguments.apply, text) if arguments.apply else own
    if not stored:
        model.fit(own)
    if arguments.save:
        joblib.dump(model, arguments.save)
    print(first_line(model))
    ranked, verdict = _ranked(model, table, arguments)
    for remark in model.remarks_ if table is own else unfamiliar(table, model.columns_):
        print(f"warning: {remark}", file=sys.stderr)
    write_csv(ranked, arguments.output)
    print(f"{arguments.output}: {len(ranked):,} rows, {ranked['decision'].sum():,} called positive")
    if arguments.audit_sample:
        sample = audit.draw(ranked, audit.plan(ranked, arguments.audit_width), arguments.seed)
        write_csv(sample, arguments.audit_sample)
        print(f"{arguments.audit_sample}: {len(sample):,} rows to check, yes or no beside each")
    if own is not None:
        _write_report(arguments, model, (ranked, verdict) if table is own else (model.rank(own),))
    return 0


def _check(arguments):
    """Raise for options that contradict each other, before anything is read."""
    outputs = [arguments.output, arguments.report, arguments.save, arguments.audit_sample]
    inputs = [Path(file) for file in (arguments.file, arguments.apply, arguments.audit) if file]
    for path in inputs:
        if not path.is_file():
            raise ValueError(f"there is no file {str(path)!r}; check the name and the folder")
    for path in filter(None, outputs):
        if path.resolve() in [file.resolve() for file in inputs]:
            raise ValueError(f"{str(path)!r} would overwrite an input; choose another name for it")
        if not path.resolve().parent.is_dir():
            raise ValueError(f"the folder of {str(path)!r} does not exist; make it first")
    stored, save = arguments.file.endswith(MODEL), str(arguments.save or MODEL)
    fit = [f"--{name.replace('_', '-')}" for name in (*OF_FIT, "save") if getattr(arguments, name)]
    troubles = (
        (not stored and not arguments.label, "--label is missing: name the column that says it"),
        (stored and not arguments.apply, "a saved model needs rows: name their file with --apply"),
        (stored and fit, f"{', '.join(fit)}: a saved model is fitted already; leave this out"),
        (arguments.budget is not None and arguments.budget < 1,
         f"--budget is {arguments.budget}: give a whole number of rows, 1 or more"),
        (not 0 < arguments.audit_width < 1,
         f"--audit-width is {arguments.audit_width!r}: give a number between 0 and 1"),
        (not save.endswith(MODEL), f"--save is {save!r}: let its name end in {MODEL}"),
        (arguments.recalibrate and not arguments.audit,
         "--recalibrate needs answers: give them with --audit"),
    )  # fmt: skip
    for found, trouble in troubles:
        if found:
            raise ValueError(trouble)


def _new_model(arguments):
    options = {name: getattr(arguments, name) for name in (*OF_FIT, "seed")}
    options["method"] = arguments.method or DEFAULT_METHOD
    return TableModel(list_size=arguments.budget or LIST, odds=arguments.cost or 1.0, **options)


def _loaded(arguments):
    try:
        model = joblib.load(arguments.file)
    except Exception as error:  # whatever is wrong with the file, it is not one of ours
        raise ValueError(f"{arguments.file!r} is no model saved with --save ({error})") from error
    return model.set_params(odds=arguments.cost or model.odds)


def _ranked(model, table, arguments):
    """The ranking with harmless identifiers, and what an audit says of it, if there was one."""

    def rank(recalibrated=None):
        ranked = model.rank(table, arguments.budget, recalibrated)
        return ranked.assign(**{ranked.columns[0]: harmless(ranked.iloc[:, 0])})

    ranked = rank()
    if not arguments.audit:
        return ranked, None
    if ranked["augmented"].isna().all():
        raise ValueError(f"an audit needs the label column {model.label!r} in the file")
    answers = audit.read_answers(arguments.audit, ranked, arguments.seed)
    verdict = audit.judge(ranked, answers, labelled=len(table) - len(ranked))
    for name in ("precision", "missed", "hidden", "prior"):
        low, high = verdict[name]
        print(f"audit: {name} between {low:.4g} and {high:.4g} (95%)")
    if arguments.recalibrate:
        ranked = rank(audit.recalibration(ranked, answers))
    return ranked, verdict


def _write_report(arguments, model, ranking):
    rule = "more likely positive than not"
    if model.odds != 1:
        rule = f"odds of being positive above {model.odds:g}, from the costs given"
    if arguments.budget and not arguments.apply:
        rule = f"the first {arguments.budget:,}, as the budget says"
    file, output = Path(arguments.file).name, arguments.output.name
    facts = {"file": file, "rule": rule, "output": output}
    write_report(arguments.report, model, facts, *ranking)
    print(f"{arguments.report}: what this rests on, and how to check it")


def harmless(names):
    """Identifiers as text that no spreadsheet takes for a formula.

    Examples
    --------
    >>> harmless(pd.Series(["=1+1", "-7", "@x", "a"])).tolist()
    ["'=1+1", '-7', "'@x", 'a']
    """
    text = names.astype(str)
    formula = text.str.match(r"[=+\-@\t\r]") & pd.to_numeric(text, errors="coerce").isna()
    return text.mask(formula, "'" + text)


def write_csv(table, path):
    """Write a table whose first column is :func:`harmless`."""
    table.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")
