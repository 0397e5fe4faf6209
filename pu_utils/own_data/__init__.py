"""Your own data: from a table with a label column to a list you can act on.

``python -m pu_utils rank FILE --label COLUMN`` does it all; the same by hand:

    table = read_table("people.csv")
    model = TableModel(label="diagnosed", prior=0.14).fit(table)
    ranked = model.rank(table, budget=100)

The rooms: ``table`` reads, ``model`` learns and ranks, ``audit`` draws rows to check by hand and
says what the answers prove, ``report`` writes it down, ``cli`` is the command.
"""

from pu_utils.own_data.audit import checks_needed, draw, exact_interval, judge, plan
from pu_utils.own_data.model import METHODS, TableModel
from pu_utils.own_data.report import first_line, write_report
from pu_utils.own_data.table import read_table

__all__ = [
    "METHODS", "TableModel", "checks_needed", "draw", "exact_interval", "first_line", "judge",
    "plan", "read_table", "write_report",
]  # fmt: skip
