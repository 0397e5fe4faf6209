"""The command ``python -m pu_utils rank``: a table in, a ranking and a report out."""

import argparse
import sys
from pathlib import Path

import pandas as pd

from pu_utils.own_data import audit
from pu_utils.own_data.model import LIST, METHODS, TableModel
from pu_utils.own_data.report import first_line, write_report
from pu_utils.own_data.table import read_table, unfamiliar

MODEL_ENDING = ".safetensors"
NOT_STORED = "elkan-noto"  # its classifier of S is scikit-learn's, which only pickle stores
DESCRIPTION = """\
Rank the unlabelled rows of a table, most likely positive first.

A row is labelled where it is known to be positive; of the others nobody knows. Give the share of
positives among ALL rows (--prior) or a range of it: no data of this kind contain it. With neither,
half of the positives are taken to be labelled, and the report shows four fifths to one fifth.

Written are RANKED.CSV (id, y, e, s, augmented, decision: probability of being positive; of a
positive being labelled; of being labelled; of being positive though unlabelled; 1 where called)
and REPORT.HTML, which says what was learnt, what depends on the prior, and how to check it.
"""
EXAMPLES = """\
examples:
  python -m pu_utils rank people.csv --label diagnosed --prior 0.14 --budget 100
  python -m pu_utils rank people.csv --label diagnosed --prior-range 0.1 0.2 \\
      --propensity-columns Age Education --save people.safetensors
  python -m pu_utils rank people.safetensors --apply new_people.csv
  python -m pu_utils rank people.csv --label diagnosed --prior 0.14 --audit-sample to_check.csv
  python -m pu_utils rank people.csv --label diagnosed --prior 0.14 --audit to_check.csv
"""


def add_parser(commands):
    """Add ``rank`` to the subparsers of the command line."""
    parser = commands.add_parser(
        "rank",
        help="rank the unlabelled rows of your own table",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("file", metavar="FILE", help=f"CSV or Parquet, or a saved model (*{MODEL_ENDING})")
    add("--label", metavar="COLUMN", help="the label: 0/1, False/True, -1/1, or a value and blanks")
    add("--positive", metavar="VALUE", help="which value of the label means labelled")
    add("--id", metavar="COLUMN", help="names of the rows (found if it ends in 'id' or 'key')")
    prior = parser.add_mutually_exclusive_group()
    prior.add_argument("--prior", type=float, metavar="P", help="share of positives in all rows")
    prior.add_argument("--prior-range", type=float, nargs=2, metavar=("LOW", "HIGH"))
    add("--propensity-columns", nargs="+", metavar="COLUMN", help="what labelling depends on")
    add("--method", choices=METHODS, default="augmented-em", help="default: %(default)s")
    decision = parser.add_mutually_exclusive_group()
    decision.add_argument("--budget", type=int, metavar="N", help="call the first N rows positive")
    decision.add_argument(
        "--cost", type=_odds, default=1.0, metavar="FP:FN", help="costs of a false positive and a "
        "false negative, such as 1:5"
    )  # fmt: skip
    add("--output", type=Path, default=Path("ranked.csv"), help="default: %(default)s")
    add("--report", type=Path, default=Path("report.html"), help="default: %(default)s")
    add("--save", type=Path, metavar="MODEL", help=f"store the model (*{MODEL_ENDING}, no pickle)")
    add("--apply", metavar="NEW_FILE", help="rank the rows of another file instead")
    add("--audit-sample", type=Path, metavar="CSV", help="write rows to be checked by hand")
    add("--audit-width", type=_share, default=0.2, metavar="W", help="width of the intervals "
        "that the checks are to give (default: %(default)s)")  # fmt: skip
    add("--audit", metavar="CSV", help="the checked rows: yes or no in the column 'answer'")
    add("--recalibrate", action="store_true", help="make probabilities agree with the audit")
    add("--seed", type=int, default=0, help="default: %(default)s")
    parser.set_defaults(run=run)


def _odds(text):
    try:
        false_positive, false_negative = map(float, text.split(":"))
        if min(false_positive, false_negative) > 0:
            return false_positive / false_negative
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(
        f"{text!r} is not FP:FN; give two positive numbers, such as 1:5 where a missed positive "
        "costs five false alarms"
    )


def _share(text):
    try:
        if 0 < float(text) < 1:
            return float(text)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"{text!r} is no width; give a number between 0 and 1")


def run(arguments):
    """Fit or load a model, rank, and write what was asked for."""
    _check(arguments)
    if arguments.file.endswith(MODEL_ENDING):
        own, model = None, _loaded(arguments.file)
    else:
        own = read_table(arguments.file, [arguments.label, arguments.id])
        model = _new_model(arguments).fit(own)
    print(first_line(model))
    if arguments.save:
        model.save(arguments.save)
    table = read_table(arguments.apply, [model.label, model.id_]) if arguments.apply else own
    remarks = model.remarks_ if table is own else unfamiliar(table, model.columns_)
    for remark in remarks:
        print(f"warning: {remark}", file=sys.stderr)
    ranked, verdict = _ranked(model, table, arguments)
    write_csv(ranked, arguments.output)
    print(f"{arguments.output}: {len(ranked):,} rows, {ranked['decision'].sum():,} called positive")
    if arguments.audit_sample:
        sample = audit.draw(ranked, audit.plan(ranked, arguments.audit_width), arguments.seed)
        write_csv(sample, arguments.audit_sample)
        print(
            f"{arguments.audit_sample}: {len(sample):,} rows to check; write yes or no beside each"
        )
    if own is not None:
        _write_report(arguments, model, (ranked, verdict) if table is own else (model.rank(own),))
    return 0


def _check(arguments):
    """Raise for options that contradict each other, before anything is read."""
    outputs = [arguments.output, arguments.report, arguments.save, arguments.audit_sample]
    inputs = [Path(file) for file in (arguments.file, arguments.apply, arguments.audit) if file]
    for path in filter(None, outputs):
        if path.resolve() in [file.resolve() for file in inputs]:
            raise ValueError(f"{str(path)!r} would overwrite an input; choose another name for it")
        if not path.resolve().parent.is_dir():
            raise ValueError(f"the folder of {str(path)!r} does not exist; make it first")
    stored = arguments.file.endswith(MODEL_ENDING)
    save = str(arguments.save or MODEL_ENDING)
    troubles = {
        "--label is missing; name the column that says which rows are labelled": not (
            stored or arguments.label
        ),
        f"{arguments.file!r} is a saved model; say with --apply which rows to rank": stored
        and not arguments.apply,
        f"--save is {save!r}; let its name end in {MODEL_ENDING}": not save.endswith(MODEL_ENDING),
        f"--method {NOT_STORED} cannot be saved without pickle; use another method": arguments.save
        and arguments.method == NOT_STORED,
        "--recalibrate needs the answers of an audit; give them with --audit": (
            arguments.recalibrate and not arguments.audit
        ),
    }
    for trouble, found in troubles.items():
        if found:
            raise ValueError(trouble)


def _new_model(arguments):
    names = ("label", "positive", "id", "prior", "prior_range", "method", "seed")
    options = {name: getattr(arguments, name) for name in (*names, "propensity_columns")}
    return TableModel(odds=arguments.cost, list_size=arguments.budget or LIST, **options)


def _loaded(path):
    try:
        return TableModel.load(path)
    except Exception as error:  # whatever is wrong with the file, it is not one of ours
        raise ValueError(f"{path!r} is no model saved with --save ({error})") from error


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
    if arguments.cost != 1:
        rule = f"odds of being positive above {arguments.cost:g}, from the costs given"
    if arguments.budget and not arguments.apply:
        rule = f"the first {arguments.budget:,}, as the budget says"
    title = f"Ranking of {Path(arguments.file).name}"
    facts = {"title": title, "rule": rule, "output": arguments.output.name}
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
