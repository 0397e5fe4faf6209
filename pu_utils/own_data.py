"""Your own data: from a table in which some positives are labelled to a list of likely others.

    people = read_table("people.csv", text=["diagnosed"])
    ranking = rank_table(people, label="diagnosed", prior=0.14)
    print(ranking)             # what was assumed and chosen, and what to beware of
    ranking.list.head(100)     # the unlabelled rows, the most likely positives first

``pu-utils rank people.csv --label diagnosed --prior 0.14 --output ranked.csv --report report.html``
does the same and writes it down; the report is the chapter *Your own data*, run on that file.
"""

import csv
import os
import re
import warnings
from collections import namedtuple
from itertools import compress, product
from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype, is_string_dtype
from pandas.io.common import get_handle
from scipy.special import logit
from scipy.stats import beta
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from skrub import StringEncoder, TableVectorizer
from threadpoolctl import threadpool_limits

from pu_utils import rules
from pu_utils.models import AugmentedEM
from pu_utils.models.em import log_likelihood

READERS = {".csv": pd.read_csv, ".tsv": pd.read_csv, ".txt": pd.read_csv}
READERS |= {".xlsx": pd.read_excel, ".xls": pd.read_excel, ".parquet": pd.read_parquet}
CODE = r"(.*[^a-zA-Z])?(id|ID|Id|key|code)|.*[a-z](Id|ID|Key|Code)"  # names rows, has no order
NUMBER = r"[-+(]?\s?[$€£]?\s?\d{1,3}([.,'’\s]?\d{3})*([.,]\d+)?\s?[%$€£]?\)?"  # however written
YES, NO = {"1", "1.0", "true", "yes"}, {"0", "0.0", "-1", "-1.0", "false", "no"}
TINY, CHANCE = 1e-9, 1e-3  # a coincidence less likely than CHANCE gives the label away
LEAST, LIST, EXPLAINED = 10, 100, 1_000  # rows: of either status; on the list; given reasons
FIT_ROWS, NEIGHBOURS = 20_000, 100_000  # learnt from; most rows to find neighbours for
CHUNK = 50_000  # rows ranked at a time
TREES = HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=15, early_stopping=False)
CLASS_MODELS = {"linear": "logistic", "trees": TREES, "neighbours": "neighbours"}
CHAPTER = Path(__file__).parents[1] / "notebooks" / "13_your_own_data.ipynb"
Ranking = namedtuple("Ranking", "list promise scenarios candidates columns remarks")


# From a file to a table


def read_table(file, text=(), decimal=None, thousands=None):
    """The table in a CSV, Parquet or Excel file, compressed or not.

    Parameters
    ----------
    file : path
        .csv, .tsv or .txt (UTF-8; commas, semicolons, tabulators or bars), .parquet or .xlsx.
    text : list of str
        Columns whose cells stay as they are written: the label, identifiers, codes.
    decimal, thousands : str, optional
        How numbers are written: with a point, and nothing between thousands, where None.

    Returns
    -------
    pandas.DataFrame
    """
    reader = next((READERS[end] for end in Path(file).suffixes[::-1] if end in READERS), None)
    if not reader:
        raise ValueError(f"{file} is no table; give a file that ends in {', '.join(READERS)}")
    options = {"decimal": decimal or ".", "thousands": thousands}
    try:
        if reader is pd.read_parquet:
            return reader(file)
        if reader is pd.read_csv:
            options |= {"sep": _separator(file), "encoding": "utf-8-sig", "index_col": False}
            options["skipinitialspace"] = True
        probe = reader(file, dtype=str, nrows=1000, **options)
        stays = {k for k in probe if k in text or re.fullmatch(CODE, str(k))}
        if decimal is None:
            probe.drop(columns=stays).apply(_readable)
        stays |= {k for k in probe if probe[k].str.match(r"0\d|\d{16}").any()}
        return reader(file, dtype=dict.fromkeys(stays, str), **options)
    except (ImportError, UnicodeError) as error:
        raise ValueError(f"{file} cannot be read: {error}; save it as CSV UTF-8") from error


def _separator(file):
    """What separates the cells of a CSV file, every line of which must have as many."""
    with get_handle(file, "r", encoding="utf-8-sig", compression="infer") as opened:
        separator, width = max(",;\t|", key=opened.handle.readline().count), 0
        opened.handle.seek(0)
        for cells in (lines := csv.reader(opened.handle, delimiter=separator)):
            width = width or len(cells)
            if len(cells) not in (0, width):
                what = f"line {lines.line_num} has {len(cells)} cells and the header {width}"
                raise ValueError(f"{file}: {what}; quote cells that hold a {separator!r}")
    return separator


# From a table to numbers


def _as_text(values):
    """Cells as they stand, blank where they are missing; whole numbers beside gaps stay whole."""
    return values.convert_dtypes().astype("string").fillna("").str.strip()


def label_marks(values, positive=None):
    """The values of a label column that mean labelled, as text; they are compared as they stand.

    1/0, True/False and yes/no are understood, and any one value beside blank cells; ``positive``
    says which it is where there are others.

    Examples
    --------
    >>> label_marks(pd.Series(["44054006", "", "44054007"]), positive=44054006)
    ['44054006']
    """
    held = sorted(set(_as_text(values)) - {""})
    marks = [cell for cell in held if cell.lower() in YES]
    if positive is not None:
        marks = [cell for cell in held if cell == str(positive).strip()]
    elif not {cell.lower() for cell in held} <= YES | NO:
        marks = held if len(held) == 1 else []
    if not marks:
        what = f"column {values.name!r} holds {', '.join(map(repr, held[:5])) or 'nothing'}"
        raise ValueError(f"{what}; say with --positive (positive=) which value means labelled")
    return marks


def _why_not(column, s):
    """Why a column must not be learnt from, or nothing."""
    codes, held = pd.factorize(column.astype("string") if column.dtype == object else column)
    if len(held) == len(s) and re.fullmatch(CODE, column.name):
        return "left out: it names the rows"
    for rows in (codes == codes[s.argmax()], codes == -1, codes != -1):
        if rows.any() and s[rows].all() and s.mean() ** rows.sum() < CHANCE:
            return "left out: it gives the label away"
    return ""


def _readable(column, code=False):
    """A column as numbers where it holds numbers, and as categories where it holds codes."""
    if code:
        return _as_text(column).replace("", pd.NA).astype("category")
    if not (is_string_dtype(column) or column.dtype == object):
        return column.where(np.isfinite(column)) if is_float_dtype(column) else column
    counts = column.astype("string").str.strip().value_counts()
    plain = pd.to_numeric(counts.index, errors="coerce").notna()
    points = counts.index.str.fullmatch(r"[-+]?[1-9]\d{0,2}(\.\d{3})+")  # 1.200 beside 950 is
    few = counts.index[~points].str.fullmatch(r"[-+]?\d{1,3}")  # more than a thousand
    strange = counts.index.str.fullmatch(NUMBER) & (~plain | points & bool(len(few) and few.all()))
    if strange.any() and (plain | strange).mean() >= 0.5:
        what = f"column {column.name!r} holds {counts.index[strange][0]!r}: say with --decimal and "
        raise ValueError(f"{what}--thousands how numbers are written, or name it in --codes")
    words = counts[~plain].sum() > 0.05 * counts.sum()  # fewer among numbers count as missing
    return column.astype("string") if words else pd.to_numeric(column, errors="coerce")


class _Matrix:
    """Numbers from a table, as learnt from some rows of it, each column rounded to 255 quantiles.

    No model notices the rounding, and trees are ten times as fast: scikit-learn is slow to find
    such values anew for weighted rows.
    """

    def __init__(self, sample):
        levels = OneHotEncoder(max_categories=20, min_frequency=5, sparse_output=False)
        levels.set_params(handle_unknown="infrequent_if_exist", drop="if_binary")
        columns = TableVectorizer(low_cardinality=levels, high_cardinality=StringEncoder(10))
        columns.set_params(drop_if_constant=True)
        self._numbers = make_pipeline(columns, SimpleImputer(strategy="median", add_indicator=True))
        X = self._numbers.fit_transform(sample)
        self._values = [np.unique(np.quantile(cells, np.linspace(0, 1, 255))) for cells in X.T]
        names = self._numbers[-1].get_feature_names_out(columns.all_outputs_)
        names = [name.removeprefix("missingindicator_") for name in names]
        self.owners = np.array([columns.output_to_input_[name] for name in names])
        words = {"numeric": "number", "datetime": "date", "low_cardinality": "category"}
        self.kinds = {k: words.get(v, "text") for k, v in columns.column_to_kind_.items()}

    def transform(self, table):
        """Rows of a table as an array."""
        X = self._numbers.transform(table).astype(float)
        for values, cells in zip(self._values, X.T, strict=True):
            cells[:] = values[np.searchsorted(values[:-1], cells)]
        return X


# From numbers to candidates


def _ask(model, X):
    """What orders unlabelled rows, their probability of being positive, y(x) and s(x)."""
    y, s, _ = model._posteriors(X, np.zeros(len(X), int))
    probability = rules.augmented_posterior(y, s)
    return np.array([y if model.propensity_features is None else probability, probability, y, s])


def _candidates(kinds, told, X, s, prior, seed):
    """Models by kind, untold and told; the log-likelihood, and AUC, of labels not seen."""
    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    models, likelihood, auc, s_x = {}, {}, {}, np.empty(len(s))
    for kind, side in product(kinds, ["untold", "told"][: 1 + bool(len(told))]):
        options = {"ridge": "auto"} if kind == "linear" else {"residualise": False}
        options |= {"propensity_features": told} if side == "told" else {}
        model = AugmentedEM(CLASS_MODELS[kind], prior=prior, random_state=seed, **options)
        with warnings.catch_warnings(action="ignore"):
            for seen, unseen in folds.split(X, s):
                s_x[unseen] = model.fit(X[seen], s[seen]).predict_label_proba(X[unseen])
            models[kind, side] = model.fit(X, s)
        likelihood[kind, side] = log_likelihood(s_x, np.ones_like(s_x), s)
        auc[kind, side] = roc_auc_score(s, s_x)
    return models, pd.DataFrame(likelihood), auc


def _choose(models, likelihood, X, trust, n):
    """The candidate that makes unseen labels most likely, and what being told has done."""
    mean = likelihood.mean()
    best = {side: (mean[:, side].idxmax(), side) for side in likelihood.columns.unique(1)}
    if "told" not in best:
        return best["untold"], []
    gain = likelihood[best["told"]] - likelihood[best["untold"]]
    lists = [set(np.argsort(-_ask(models[key], X)[0], kind="stable")[:n]) for key in best.values()]
    side = "told" if trust or gain.mean() >= 0 else "untold"
    return best[side], [
        "Told what labelling depends on, models make labels that they have not seen "
        f"{'more' if gain.mean() >= 0 else 'LESS'} likely: {gain.mean():+.4f} a row, standard "
        f"error {gain.sem():.4f}. Of the first {n:,} {len(set.intersection(*lists)):,} are on both "
        f"lists. This is the {side} one{'.' if side == 'told' else '; see --trust-columns.'}"
    ]


def _scenarios(models, X, prior, share):
    """Of every row (a column) the probability by every candidate, for three priors."""
    low, high = max(0.8 * prior, (share + prior) / 2), min(1.2 * prior, (1 + prior) / 2)
    found = {}
    for key, there in product(models, (low, prior, high)):
        _, _, y, s = _ask(models[key], X)
        y = rules.shift_prior(y, prior, there)
        found[*key, round(there, 3)] = rules.augmented_posterior(y, np.minimum(s, y))
    return pd.DataFrame(found).T.rename_axis(["model", "labelling", "prior"])


def _between(scenarios):
    """Rows, and the least and most positives among them; two standard deviations are luck."""
    expected, n = scenarios.sum(axis=1), scenarios.shape[1]
    luck = 2 * np.sqrt((scenarios * (1 - scenarios)).sum(axis=1))
    return n, max(0, int((expected - luck).min())), min(n, int(np.ceil((expected + luck).max())))


def _reasons(model, matrix, features, typical):
    """Of every row the three columns that move it most from what is typical, and which way."""
    X, effects, why = matrix.transform(features), {}, []
    for name in features:
        moved = np.where(matrix.owners == name, typical, X)
        scores = np.clip([_ask(model, x)[0] for x in (X, moved)], TINY, 1 - TINY)
        effects[name] = np.subtract(*logit(scores))
    effects = pd.DataFrame(effects).to_dict("records")
    for row, effect in zip(features.to_dict("records"), effects, strict=True):
        top = sorted(effect, key=lambda name: -abs(effect[name]))[:3]
        why.append(", ".join(f"{k} {row[k]} ({'+' if effect[k] > 0 else '-'})" for k in top))
    return why


# The list


@threadpool_limits.wrap(limits=1)  # so small are the fits that threads would wait for each other
def rank_table(
    table, label, prior, *, positive=None, id=None, propensity_columns=(), trust_columns=False,
    budget=None, by=None, keep=(), codes=(), without=(), new=None, seed=0,
):  # fmt: skip
    """Rank the unlabelled rows of a table, the most likely positives first.

    Parameters
    ----------
    table : pandas.DataFrame
        A row a case. All columns are learnt from but label and id, and those that give the label
        away; ``columns`` of the result says what each was read as.
    label : str
        The column that says which rows are labelled; see :func:`label_marks`.
    prior : float
        The share of positives among all rows, labelled or not. No data of this kind contain it.
    positive : optional
        The value of the label column that means labelled.
    id : str, optional
        A column that names the rows; the list has the index of the table as well.
    propensity_columns : list of str
        What labelling depends on, as far as people who know have said.
    by : str, optional
        A column of groups; the promise is given for each of them as well.
    trust_columns : bool
        Whether to believe ``propensity_columns`` where they make unseen labels less likely.
    budget : int, optional
        Call so many rows positive. Where None, those are called that are more likely so than not,
        and the promise is that of the first 100.
    keep, codes, without : list of str
        Columns to repeat in the list; columns of codes, whose order means nothing; to leave out.
    new : pandas.DataFrame, optional
        Other rows, to be ranked in the place of the table's own.
    seed : int
        Of all that is drawn.

    Returns
    -------
    list : pandas.DataFrame
        The unlabelled rows in order, under the index of the table. ``decision`` is 1 where a row is
        called positive, ``probability`` that of being positive in spite of having no label,
        ``chance_of_label`` that of being labelled if positive; ``why`` names, for the first 1,000,
        the three columns that move them most and which way.
    promise : pandas.DataFrame
        How many of the first rows are positive: the least and the most, by what one assumes.
    scenarios : pandas.DataFrame
        How many every candidate expects, for the prior, a fifth less and a fifth more.
    candidates : pandas.DataFrame
        How likely they make labels that they have not seen (a row), and how well they tell them
        apart (AUC).
    columns : pandas.DataFrame
        What each column was read as.
    remarks : list of str
        What was assumed and chosen, and warnings.
    """
    table, shown = table.rename(columns=str), [*filter(None, dict.fromkeys([id, *keep, by]))]
    asked = table if new is None else new.rename(columns=str)
    if absent := {label, *shown, *propensity_columns, *codes, *without} - set(table):
        raise ValueError(f"there is no column {absent}, but {', '.join(map(str, table))[:500]}")
    if id and not _as_text(asked[id]).is_unique:
        raise ValueError(f"column {id!r} names several rows alike: name another with --id (id=)")
    marks = label_marks(table[label], positive)
    s = _as_text(table[label]).isin(marks).to_numpy(int)
    if not (LEAST <= s.sum() <= len(s) - LEAST and s.mean() < prior < 1):
        what = (
            f"{s.sum():,} of {len(s):,} rows are labelled, and the prior is {prior}: give {LEAST}"
        )
        raise ValueError(f"{what} of either kind, and a prior above their share and below 1")
    kinds = {k: _why_not(table[k], s) for k in table if k not in (label, id, *without)}
    coded = {k: k in codes or bool(re.fullmatch(CODE, k)) for k in kinds if not kinds[k]}
    features = pd.DataFrame({k: _readable(table[k], coded[k]) for k in coded})
    most = int(np.clip(500 / s.mean(), FIT_ROWS, 2 * FIT_ROWS))
    rows = np.sort(np.random.default_rng(seed).permutation(len(s))[:most])
    matrix = _Matrix(features.iloc[rows])
    X = matrix.transform(features.iloc[rows])
    kinds = {k: kinds[k] or matrix.kinds.get(k, "left out: always the same") for k in kinds}
    if set(propensity_columns) - set(matrix.owners):
        raise ValueError(f"labelling cannot depend on what is left out: {kinds}")
    told = np.flatnonzero(np.isin(matrix.owners, propensity_columns)).tolist()
    class_models = list(CLASS_MODELS)[: 3 if len(asked) <= NEIGHBOURS else 2]
    models, likelihood, auc = _candidates(class_models, told, X, s[rows], prior, seed)
    unlabelled = X[s[rows] == 0]
    best, remarks = _choose(models, likelihood, unlabelled, trust_columns, budget or LIST)
    if new is not None:
        features = pd.DataFrame(
            {k: _readable(asked[k], True) if coded[k] else asked[k] for k in coded}
        )
    status = _as_text(asked[label]) if label in asked else pd.Series("", asked.index)
    kept = np.flatnonzero(~status.isin(marks))
    parts = np.split(kept, range(CHUNK, len(kept), CHUNK))
    answers = [_ask(models[best], matrix.transform(features.iloc[part])) for part in parts]
    score, probability, y, s_x = np.concatenate(answers, axis=1)
    order = np.argsort(-score, kind="stable")
    first, explained = order[: budget or LIST], features.iloc[kept[order[:EXPLAINED]]]
    called = np.isin(np.arange(len(kept)), first) if budget else probability > 0.5
    own = {"decision": called.astype(int), "probability": probability}
    own |= {"chance_of_label": rules.propensity(y, s_x)}
    why = _reasons(models[best], matrix, explained, np.median(X, axis=0))
    listed = asked.iloc[kept][shown].assign(**own).iloc[order]
    listed["why"] = [*why, *[""] * (len(listed) - len(why))]
    found = _scenarios(models, matrix.transform(features.iloc[kept[first]]), prior, s.mean())
    cells = (_as_text(listed[by]) if by else listed["why"])[: len(first)].to_numpy()
    groups = {f"{by} {k}": _between(found.loc[:, cells == k]) for k in np.unique(cells) if by}
    promise = pd.DataFrame({"all": _between(found)} | groups, ["rows", "least", "most"]).T
    (n, low, high), hidden = promise.loc["all"], round(prior * len(asked)) - len(asked) + len(kept)
    lottery, clear = n * hidden / len(kept), 0.55 < auc[best] < 0.995
    remarks = [
        f"Assumed: {prior:.3g} of all {len(asked):,} rows are positive, so {hidden:,} of the "
        f"{len(kept):,} without a label are. The data cannot confirm it.",
        f"Learnt from {len(rows):,} rows. Chosen: {' '.join(best)}, of {', '.join(class_models)}.",
        *remarks,
        f"Of the first {n:,} between {low:,} and {high:,} are positive, by what one assumes; of as "
        f"many drawn by lot {lottery:.0f}. Calling nobody positive is wrong for {hidden:,} rows, "
        f"calling these {n:,} for between {hidden + n - 2 * high:,} and {hidden + n - 2 * low:,}. "
        "Only an audit decides.",
    ] + ["warning: this list may be no better than one drawn by lot"] * bool(low <= lottery)
    if not clear:
        remarks += [
            f"warning: labels are told apart with an AUC of {auc[best]:.3f}: near 0.5 columns "
            "tell nothing of who is labelled, near 1 one of them gives the label away"
        ]
    candidates = pd.DataFrame({"log-likelihood": likelihood.mean(), "AUC": auc})
    facts = {"read as": kinds, "missing": table.isna().sum(), "first": table.iloc[0]}
    columns = pd.DataFrame(facts).reindex(list(table))
    return Ranking(listed, promise, found.sum(axis=1).unstack(), candidates, columns, remarks)


# The audit


def draw_audit(listed, size=100, first=LIST, seed=0):
    """Rows to check by hand, half of them from the first of a list, and the chance of each.

    Write yes or no into the column ``answer``, or leave it blank where nothing can be found out,
    and keep the file: with the chances in it, it judges any list of the same rows.
    """
    rng, chance = np.random.default_rng(seed), np.zeros(len(listed))
    for part in np.split(np.arange(len(listed)), [first]):
        chance[rng.permutation(part)[: size // 2]] = min(1, size // 2 / max(len(part), 1))
    drawn = rng.permutation(np.flatnonzero(chance))
    return listed.iloc[drawn, :1].assign(chance=chance[drawn], answer="")


def judge_audit(listed, checked, first=LIST):
    """Between what 95% ends positives lie among the first of a list, the others, and all.

    Every row checked stands for 1 / chance rows. With equal chances the interval is exact (Clopper
    and Pearson), else it is that of as many rows as the weights are worth. A blank answer counts
    as no at the lower end and as yes at the upper.
    """
    names, wanted = (_as_text(some.iloc[:, 0]).str.lstrip("'") for some in (listed, checked))
    place, answers = pd.Index(names).get_indexer(wanted), _as_text(checked["answer"]).str.lower()
    yes, no, chance = answers.isin(YES).to_numpy(), answers.isin(NO).to_numpy(), checked["chance"]
    wrong = (place < 0) | ~(yes | no | (answers == "")) | ~chance.between(TINY, 1)
    if wrong.any():
        raise ValueError(
            f"no row of the list, chance or yes, no or blank: {checked[wrong].head(1)}"
        )
    found = {}
    for part, start, end in ("list", 0, first), ("all", 0, len(listed)):
        mine = (start <= place) & (place < end)
        w = 1 / chance[mine].to_numpy()
        total, n = max(w.sum(), TINY), w.sum() ** 2 / max((w**2).sum(), TINY)
        low, high = n * (w @ yes[mine]) / total, n * (w @ ~no[mine]) / total
        a, b = [max(low, TINY), high + 1], [n - low + 1, max(n - high, TINY)]
        found[part] = [
            end,
            len(w),
            yes[mine].sum(),
            *(end * beta.ppf([0.025, 0.975], a, b)).round(1),
        ]
    return pd.DataFrame(found, ["rows", "checked", "positive", "least", "most"]).T


# The command


def rank(file, label, prior, output="ranked.csv", *, report=None, audit_sample=None, audit=None,
         apply=None, overwrite=False, decimal=None, thousands=None, **options):  # fmt: skip
    """The command ``rank``: a file in, a list and perhaps a report and rows to check out.

    ``options`` are those of :func:`rank_table`. No file is written over unless ``overwrite`` says
    so, rows to check never are, and every file is written whole or not at all.
    """
    written = [Path(name) for name in (output, report, audit_sample) if name]
    named = [Path(name).resolve() for name in (file, apply, audit, *written) if name]
    for path in written:
        if named.count(path.resolve()) > 1 or not path.resolve().parent.is_dir():
            raise ValueError(f"{path}: give every file its own name, in a folder that exists")
        if path.exists() and (not overwrite or str(path) == audit_sample):
            raise ValueError(
                f"{path} exists: give another name, or --overwrite, but not for audits"
            )
    reading, first = {"decimal": decimal, "thousands": thousands}, options.get("budget") or LIST
    text = [label, options.get("id"), *options.get("codes", ())]
    table, new = (read_table(name, text, **reading) if name else None for name in (file, apply))
    ranking = rank_table(table, label, prior, new=new, **options)
    listed = ranking.list if options.get("id") else ranking.list.reset_index(names="row")
    print(*ranking.remarks, sep="\n")
    if audit:
        print(judge_audit(listed, read_table(audit, [listed.columns[0]]), first))
    _write(output, listed)
    if audit_sample:
        _write(audit_sample, draw_audit(listed, first=first))
    if report:
        given = {"file": str(named[0]), "label": label, "prior": prior, "reading": reading}
        given |= {"options": options, "audit": str(Path(audit).resolve()) if audit else None}
        _write(report, report_page(given))


def report_page(given):
    """The chapter *Your own data*, run on a reader's file, as one page of HTML."""
    import nbformat
    from nbclient import NotebookClient
    from nbconvert import HTMLExporter

    notebook = nbformat.read(CHAPTER, as_version=4)
    tags = [cell.metadata.get("tags", []) for cell in notebook.cells]
    settings = "\n".join(f"{name} = {value!r}" for name, value in given.items())
    notebook.cells[["parameters" in some for some in tags].index(True)].source = settings
    keep = ["book" not in some for some in tags]
    heading = nbformat.v4.new_markdown_cell(f"# {Path(given['file']).name}: who else is positive?")
    notebook.cells = [heading, *compress(notebook.cells, keep)]
    where = {"metadata": {"path": str(CHAPTER.parent)}}
    NotebookClient(notebook, timeout=None, resources=where).execute()
    offline = dict.fromkeys(("mathjax_url", "require_js_url", "jquery_url", "mermaid_js_url"), "")
    page = HTMLExporter(exclude_input=True, exclude_output_prompt=True, **offline)
    return page.from_notebook_node(notebook)[0]


def _write(name, content):
    """Write a table or a page whole or not at all."""
    temporary = Path(name).with_name(f".{os.getpid()}.{Path(name).name}")
    try:
        if isinstance(content, str):
            temporary.write_text(content, encoding="utf-8")
        else:
            _harmless(content).to_csv(temporary, index=False, quoting=csv.QUOTE_NONNUMERIC)
        os.replace(temporary, name)
    finally:
        temporary.unlink(missing_ok=True)


def _harmless(table):
    """A table no cell or head of which a spreadsheet takes for a formula."""

    def text(cells):
        if not is_string_dtype(cells):
            return cells
        formula = cells.str.match(r"[=+\-@\t\r\n]") & pd.to_numeric(cells, errors="coerce").isna()
        return cells.mask(formula, "'" + cells)

    return table.apply(text).set_axis(text(table.columns.to_series()), axis=1)
