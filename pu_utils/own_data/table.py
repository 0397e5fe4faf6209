"""A reader's table: read it, understand its label and identifier, make numbers of its columns.

Everything learnt of a column is one dictionary of plain values, a *fact*. The facts alone determine
how rows are turned into numbers, and can be printed in a report and stored without pickle.
"""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd

MOST_COLUMNS = 1000
LEAST_ROWS = 10  # of labelled and of unlabelled rows
MOST_LEVELS, LEAST_OF_LEVEL = 50, 5  # of a category: levels kept, and rows that each is found in
UNDERSTOOD = 0.95  # share of a column's values that must be numbers or dates for it to be one
CHANCE = 1e-3  # a coincidence less likely than this is taken for a leak
MISSING = "(missing)"
FORMS = ("number", "ISO8601", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y")
KNOWN_LABELS = {("0", "1"): "1", ("false", "true"): "true", ("-1", "1"): "1"}
NEGATIVE_WORDS = {"0", "-1", "false", "no", "n", "negative", "u", "unlabelled", "unlabeled"}
CSV, PARQUET = (".csv", ".tsv", ".txt"), (".parquet", ".pq")
REMEDIES = {
    ImportError: "install an engine for Parquet (pip install pyarrow), or save it as CSV",
    UnicodeDecodeError: "it is not UTF-8: save it as 'CSV UTF-8'",
    pd.errors.EmptyDataError: "it is empty: give a header and one row per case",
    pd.errors.ParserWarning: "give every row as many cells as the header has",
    pd.errors.ParserError: "give every row as many cells as the header has, and put cells that "
    "hold a separator or a line break in double quotes",
    ValueError: "save it anew",
}


# Files


def read_table(path, text_columns=()):
    """The table in a CSV or Parquet file.

    Parameters
    ----------
    path : str or Path
        CSV (UTF-8; separated by commas, semicolons, tabulators or bars) or Parquet.
    text_columns : list of str
        Columns of a CSV file to be left as they are written: identifiers, labels.

    Returns
    -------
    pandas.DataFrame
    """
    path = Path(path)
    ending = path.suffix.lower()
    if not path.is_file():
        raise ValueError(f"there is no file {str(path)!r}; check the name and the folder")
    if ending not in CSV + PARQUET:
        raise ValueError(f"{path.name!r} is no table; save it as {' or '.join(CSV + PARQUET)}")
    try:
        table = pd.read_parquet(path) if ending in PARQUET else _read_csv(path, text_columns)
    except tuple(REMEDIES) as error:
        remedy = next(text for kind, text in REMEDIES.items() if isinstance(error, kind))
        what = str(error).strip().partition("\n")[0]
        raise ValueError(f"{path.name!r} cannot be read; {remedy} ({what})") from error
    table.columns = [str(column).strip() for column in table.columns]
    if not table.columns.is_unique:
        twice = table.columns[table.columns.duplicated()][0]
        raise ValueError(f"{path.name!r} has two columns {twice!r}; rename one of them")
    rows, columns = table.shape
    if not rows or columns > MOST_COLUMNS:
        raise ValueError(
            f"{path.name!r} has {rows:,} rows and {columns:,} columns; give at least {LEAST_ROWS} "
            f"rows and at most {MOST_COLUMNS:,} columns: keep those that may matter"
        )
    return table.reset_index(drop=True)


def _read_csv(path, text_columns):
    with path.open(encoding="utf-8-sig") as file:
        separator = max(",;\t|", key=file.readline().count)
    options = {"sep": separator, "encoding": "utf-8-sig", "index_col": False}
    header = pd.read_csv(path, nrows=0, **options).columns
    text = {name: str for name in header if name.strip() in text_columns or _names_rows(name)}
    options["decimal"] = "," if separator == ";" else "."
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        return pd.read_csv(path, low_memory=False, dtype=text, **options)


def _names_rows(column):
    """Whether a column is called like an identifier; it is then read as it is written."""
    name = column.lower()
    return name == "unnamed: 0" or name.replace(" ", "_").split("_")[-1] in ("id", "key")


def check_columns(table, **named):
    """Raise unless the options name columns of the table, and none of them twice."""
    seen = set()
    for option, names in named.items():
        for name in [names] if isinstance(names, str) else names or []:
            if name not in table.columns or name in seen:
                why = "that is named twice" if name in seen else "which the file does not have"
                raise ValueError(
                    f"{option} names column {name!r}, {why}; choose another of its columns: "
                    f"{', '.join(map(repr, table.columns[:20]))}"
                )
            seen.add(name)


# The label and the identifier


def label_status(values, positive=None, known=None):
    """Which rows are labelled, and how that is written.

    0/1, False/True and -1/1 are understood, and any one value beside blank cells; any other two
    values need ``positive``. Blank cells are unlabelled. Upper and lower case are the same.

    Parameters
    ----------
    values : pandas.Series
        The label column.
    positive : optional
        The value that means "labelled".
    known : list of str, optional
        The values of the table a model was fitted to; others are then refused.

    Returns
    -------
    s : array of int
        1 where labelled, 0 elsewhere.
    positive : str
        The value that means "labelled".
    known : list of str
        The values of the column, blank apart.

    Examples
    --------
    >>> label_status(pd.Series(["yes", None, "", "yes"]))
    (array([1, 0, 0, 1]), 'yes', ['yes'])
    """
    codes, found = pd.factorize(values)
    texts = [_label_text(value) for value in found]
    held = sorted(set(texts) - {""})
    strange = set(held) - set(known or held[:2])
    if positive is None:
        alone = held[0] if len(held) == 1 and held[0] not in NEGATIVE_WORDS else None
        positive = KNOWN_LABELS.get(tuple(held), alone)
    else:
        positive = _label_text(positive)
    if strange or positive not in (known or held):
        raise ValueError(
            f"label column {values.name!r} holds {', '.join(map(repr, held[:5])) or 'nothing'}; it "
            f"must hold one value for labelled rows{f', {positive!r},' if known else ''} and at "
            "most one other (or blank cells) for the others: say which is labelled with --positive"
        )
    labelled = np.array([*(text == positive for text in texts), False])
    return labelled[codes].astype(int), positive, known or held


def _label_text(value):
    """A label as text: 1, 1.0, '1' and ' 1 ' are the same, and so are True and 'TRUE'."""
    text = str(value).strip().casefold()
    try:
        return f"{float(text):g}"
    except ValueError:
        return text


def check_counts(column, s):
    """Raise unless there are enough rows of either status to learn from."""
    for status, count in (("labelled", s.sum()), ("unlabelled", (1 - s).sum())):
        if count < LEAST_ROWS:
            raise ValueError(
                f"label column {column!r} has {count} {status} row(s); at least {LEAST_ROWS} are "
                "needed to learn from: collect more, or check --label and --positive"
            )


def find_id(table, label):
    """The column that names rows, or None: a different value in every row and a name like it."""
    for name in table.columns.drop(label):
        values = table[name]
        if _names_rows(name) and values.is_unique and values.notna().all():
            return name
    return None


def row_names(table, column):
    """The identifiers of the rows, or their numbers from 1 where there is no such column."""
    if column is None:
        return pd.Series(np.arange(1, len(table) + 1))
    check_columns(table, **{"--id": column})
    names = table[column]
    bad = names.isna() | names.duplicated()
    if bad.any():
        raise ValueError(
            f"id column {column!r} is blank or repeats {str(names[bad].iloc[0])!r} in row "
            f"{int(bad.argmax()) + 1}; keep one row per case, or leave out --id to number rows"
        )
    return names


# Columns


def describe_columns(table, s, apart):
    """Facts about every column but those named in ``apart``; see the module."""
    facts = [describe_column(table[name], s) for name in table.columns if name not in apart]
    if all(fact["kind"] == "dropped" for fact in facts):
        reasons = "; ".join(f"{fact['name']!r}: {fact['reason']}" for fact in facts[:5])
        raise ValueError(f"no column is left to learn from ({reasons}); add some that tell of rows")
    return facts


def describe_column(values, s):
    """What is known of a column: a number, a date, a category, or dropped for a reason."""
    present = values.notna().to_numpy()
    fact = {"name": values.name, "kind": "dropped", "missing": int((~present).sum())}
    try:
        codes, found = pd.factorize(values)
    except TypeError:  # lists and the like, which Parquet can hold
        return fact | {"reason": "its values are no single numbers, dates or texts"}
    reason = _why_not(codes, present, s)
    if reason:
        return fact | {"reason": reason}
    form = None if _names_rows(values.name) else _form(values, found)  # codes have no order
    if form is None:
        return fact | _levels(values, present)
    numbers = to_numbers(values, form)
    misread = int((np.isnan(numbers) & present).sum())
    known = numbers[~np.isnan(numbers)]
    if not known.size:
        return fact | {"reason": "it holds no finite value"}
    return fact | {
        "kind": "number" if form == "number" else "date",
        "form": form,
        "centre": float(np.median(known)),
        "scale": float(known.std()) or 1.0,
        "indicator": fact["missing"] + misread > 0,
    }


def _why_not(codes, present, s):
    """Why a column must not be learnt from, or None."""
    if codes.min() == codes.max():
        return "the same in every row"
    labelled = s == 1
    if len(np.unique(codes)) == 2 and ((codes == codes[labelled.argmax()]) == labelled).all():
        return "it equals the label"
    for rows, what in ((present, "present"), (~present, "missing")):
        if rows.any() and labelled[rows].all() and labelled.mean() ** rows.sum() < CHANCE:
            return f"it is {what} only in labelled rows, and so gives the label away"
    return None


def _form(values, found):
    """How the values are to be read as numbers or dates; None for categories."""
    if pd.api.types.is_datetime64_any_dtype(values):
        return "date"
    if pd.api.types.is_numeric_dtype(values):  # Booleans among them
        return "number"
    probe = pd.Series(found[:1000]).astype(str)
    fits = (form for form in FORMS if np.isfinite(to_numbers(probe, form)).mean() >= UNDERSTOOD)
    return next(fits, None)


def to_numbers(values, form):
    """A column as numbers, dates as days since 1970; NaN for what is missing or not understood.

    Examples
    --------
    >>> to_numbers(pd.Series(["1.5", "inf", "?"]), "number").tolist()
    [1.5, nan, nan]
    >>> to_numbers(pd.Series(["1970-01-03", None, "9999-12-31"]), "ISO8601").tolist()
    [2.0, nan, 2932896.0]
    """
    if form == "number":
        numbers = pd.to_numeric(values, errors="coerce").to_numpy(float, na_value=np.nan)
        return np.where(np.isfinite(numbers), numbers, np.nan)
    form = None if form == "date" else form
    dates = pd.to_datetime(values, format=form, errors="coerce", utc=True).dt.tz_localize(None)
    return (dates.to_numpy("datetime64[s]") - np.datetime64(0, "s")) / np.timedelta64(1, "D")


def _levels(values, present):
    counts = values.astype(str)[present].value_counts()
    levels = [level for level in counts.index[:MOST_LEVELS] if counts[level] >= LEAST_OF_LEVEL]
    if not levels:
        return {"reason": f"text of which no value is found in {LEAST_OF_LEVEL} rows"}
    other = int(counts.sum() - counts[levels].sum())
    if (~present).sum() >= LEAST_OF_LEVEL:
        levels.append(MISSING)
    return {"kind": "category", "levels": levels, "other": other}


# From rows to numbers


def _used(facts):
    """The facts behind the design matrix in its order: numbers and dates, then categories."""
    used = [fact for fact in facts if fact["kind"] != "dropped"]
    return sorted(used, key=lambda fact: fact["kind"] == "category")


def design_matrix(table, facts):
    """Rows of the table as numbers; columns that the facts need are found by name.

    Numbers and dates are standardised, missing ones take the median and add a column that says so;
    categories become a column per level, with none of them for rare and for new values.
    """
    used = _used(facts)
    absent = [fact["name"] for fact in used if fact["name"] not in table.columns]
    if absent:
        raise ValueError(
            f"the file lacks {', '.join(map(repr, absent[:10]))}, which the model was fitted with; "
            "add the column(s), or fit a model without them"
        )
    return np.column_stack([_encoded(table[fact["name"]], fact) for fact in used])


def _encoded(values, fact):
    """The columns of the design matrix that a column of the table becomes."""
    if fact["kind"] == "category":
        texts = values.astype(object).where(values.notna(), MISSING).astype(str)
        return np.equal.outer(texts.to_numpy(object), np.array(fact["levels"], object)).astype(
            float
        )
    numbers = (to_numbers(values, fact["form"]) - fact["centre"]) / fact["scale"]
    unknown = np.isnan(numbers)
    columns = [np.where(unknown, 0.0, numbers), unknown]
    return np.column_stack(columns if fact["indicator"] else columns[:1])


def owners(facts):
    """The name of the table's column behind every column of the design matrix."""
    used = _used(facts)
    widths = [len(f["levels"]) if "levels" in f else 1 + f["indicator"] for f in used]
    return np.repeat([fact["name"] for fact in used], widths)


def unfamiliar(table, facts):
    """Sentences about values that the facts have no place for."""
    remarks = []
    for fact in facts:
        if fact["kind"] == "dropped":
            continue
        values = table[fact["name"]].dropna()
        if fact["kind"] == "category":
            strange = values[~values.astype(str).isin(fact["levels"])]
            what = "values that training rows held rarely or never; they count as 'other'"
        else:
            strange = values[np.isnan(to_numbers(values, fact["form"]))]
            what = f"values that are no finite {fact['kind']}; they count as missing"
        if len(strange):
            remarks.append(
                f"column {fact['name']!r} holds {what}: {len(strange):,} row(s), for example "
                f"{str(strange.iloc[0])[:40]!r}"
            )
    return remarks
