"""Reads a logbook and its CSV as others do, with SQLite, DuckDB and pandas. Says `OK` at the end.

check.py LOGBOOK CSV PAGE RUN.JSON...
"""

import csv
import glob
import json
import os
import re
import sqlite3
import sys

import duckdb
import duckdb_extension_sqlite_scanner
import pandas as pd


def near(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def same(a, b):
    if a is None or b is None or pd.isna(a) or pd.isna(b):
        return (a is None or pd.isna(a)) and (b is None or pd.isna(b))
    return near(a, b) if isinstance(a, float) or isinstance(b, float) else a == b


def same_tables(name, one, other):
    assert list(one.columns) == list(other.columns), (name, one.columns, other.columns)
    assert len(one) == len(other), (name, len(one), len(other))
    for column in one.columns:
        for a, b in zip(one[column].tolist(), other[column].tolist()):
            assert same(a, b), (name, column, a, b)


def scalars(entry):
    return {name: value for name, value in entry.items() if not isinstance(value, (dict, list))}


def main(logbook, table, page, documents):
    sqlite = sqlite3.connect(f"file:{logbook}?mode=ro", uri=True)
    duck = duckdb.connect()
    [extension] = glob.glob(os.path.dirname(duckdb_extension_sqlite_scanner.__file__) + "/extensions/*/*")
    duck.execute(f"LOAD '{extension}'")
    duck.execute(f"ATTACH '{logbook}' AS q (TYPE sqlite, READ_ONLY)")
    duck.execute("USE q")

    def both(query):
        return pd.read_sql(query, sqlite), duck.sql(query).df()

    views = {}
    for view, order in [("runs", "run"), ("points", 'run, "index"'), ("samples", 'run, "index", sample')]:
        by_sqlite, by_duckdb = both(f"SELECT * FROM {view} ORDER BY {order}")
        same_tables(view, by_sqlite, by_duckdb)
        views[view] = by_sqlite
        print(view, len(by_sqlite), "rows")
    rows = list(csv.DictReader(open(table, newline="")))
    by_duckdb = duck.sql(f"SELECT run, \"index\", io_per_s, latency_ns_all_p99 FROM read_csv('{table}')").df()
    by_pandas = pd.read_csv(table)[list(by_duckdb.columns)]
    by_duckdb.run = by_duckdb.run.astype(str)
    same_tables("csv", by_pandas, by_duckdb)
    points = views["points"].set_index(["run", "index"])
    cells = {(row["run"], int(row["index"])): row for row in rows}
    assert len(cells) == len(rows) == len(points), (len(rows), len(points))
    compared = 0
    for path in documents:
        document = json.load(open(path))
        run = document["run"]["id"]
        row = views["runs"].set_index("run").loc[run]
        for name, value in scalars(document["run"]).items():
            if name in row:
                assert same(row[name], value), (name, row[name], value)
        for entry in document["points"]:
            point, cell = points.loc[(run, entry["index"])], cells[run, entry["index"]]
            for name, value in scalars(entry).items():
                if name in point:
                    assert same(point[name], value), (name, point[name], value)
                    compared += 1
                if name in cell:
                    text = "" if value is None else str(value).lower() if isinstance(value, bool) else value
                    assert cell[name] == str(text) or near(float(cell[name]), value), (name, cell[name], value)
            for name, value in entry["latency_ns"]["all"]["percentiles"].items():
                column = f"latency_ns_all_p{name}"
                assert int(cell[column]) == value, (column, cell[column], value)
                compared += 1
    assert compared > 100, compared
    queries = re.findall(r"^```sql\n(.*?)^```", open(page).read(), flags=re.M | re.S)
    assert len(queries) == 5, len(queries)
    answered = 0
    for number, query in enumerate(queries):
        by_sqlite, by_duckdb = both(query)
        same_tables(f"query {number}", by_sqlite, by_duckdb)
        answered += len(by_sqlite) > 0
    assert answered == 5, answered
    print(compared, "values")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
    print("OK")
