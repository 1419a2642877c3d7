"""Reads tables of runs as others do: DuckDB, pandas, pyarrow. Says `OK` at the end.

    check.py schema TABLES COLUMNS.JSON        types, nulls and marks, as pyarrow sees them
    check.py page TABLES PAGE TRUTH.JSON       the questions of the page, answered twice
    check.py groups TABLES OTHERS              the same rows, of which others are in many groups
    check.py list TABLES LIST.JSON             runs beside the program's own list
    check.py same TABLES RUN.JSON RUN.CSV      a run in tables beside the program's own words
"""

import csv
import json
import os
import re
import sys

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

TYPES = {
    "text": pa.string(),
    "whole": pa.int64(),
    "real": pa.float64(),
    "flag": pa.bool_(),
    "time": pa.timestamp("us", tz="UTC"),
}


def near(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def read(folder, name):
    file = pq.ParquetFile(f"{folder}/{name}.parquet", page_checksum_verification=True)
    return file, file.read()


def schema(folder, columns):
    for name, wanted in json.load(open(columns)).items():
        file, table = read(folder, name)
        found = [(field.name, field.type, field.nullable) for field in table.schema]
        assert found == [(column, TYPES[kind], True) for column, kind in wanted], name
        said = {key.decode(): value.decode() for key, value in file.metadata.metadata.items()}
        assert said["qdepth.schema.name"] == "qdepth-tables" and said["qdepth.table"] == name, said
        assert file.metadata.created_by.startswith("qdepth version "), file.metadata.created_by
        groups = [file.metadata.row_group(n) for n in range(file.metadata.num_row_groups)]
        assert sum(group.num_rows for group in groups) == table.num_rows == file.metadata.num_rows
        for place, (column, kind) in enumerate(wanted):
            values = table.column(column)
            stated = [group.column(place).statistics.null_count for group in groups]
            assert sum(stated) == values.null_count, column
            if kind == "real":
                assert not any(value != value for value in values.to_pylist() if value is not None), column
            if kind == "text":
                assert "" not in values.to_pylist(), column
        assert table.column("emulated").null_count == 0 == table.column("run").null_count, name
        own = duckdb.sql(f"SELECT * FROM '{folder}/{name}.parquet'").arrow()
        own = own.read_all() if hasattr(own, "read_all") else own
        for column in table.column_names:
            ours, theirs = table.column(column), own.column(column)
            assert ours.to_pylist() == theirs.cast(ours.type).to_pylist(), (name, column)
        print(name, table.num_rows, "rows", len(groups), "groups")


def groups(folder, others):
    for name in ("runs", "points", "intervals"):
        file, table = read(others, name)
        assert file.metadata.num_row_groups > 1 or name == "runs", name
        assert table.equals(read(folder, name)[1]), name


def list_of_runs(folder, path):
    rows = {row["run"]: row for row in read(folder, "runs")[1].to_pylist()}
    runs = json.load(open(path))["runs"]
    assert len(rows) == len(runs)
    for run in runs:
        row = rows[run["id"]]
        for name in ("state", "plan", "host", "points_done", "points_planned", "emulated", "damaged", "retracted"):
            assert row[name] == run[name], (name, row[name], run[name])
        for name in ("notes", "targets"):
            assert row[name] == ("\n".join(run[name]) or None), (name, row[name])
        for name in ("started_at", "ended_at"):
            assert pd.Timestamp(row[name]) == pd.Timestamp(run[name]).floor("us"), name


def fences(page):
    pieces = re.split(r"^## (\d+)\. ", open(page).read(), flags=re.M)
    texts = [pieces[0], *pieces[2::2]]
    return [{kind: "\n".join(re.findall(rf"^```{kind}\n(.*?)^```", text, flags=re.M | re.S))
             for kind in ("sql", "python")} for text in texts]


def same_answer(number, a, b):
    assert list(a.columns) == list(b.columns), (number, a.columns, b.columns)
    assert len(a) == len(b) > 0, (number, len(a), len(b))
    for column in a.columns:
        for x, y in zip(a[column].tolist(), b[column].tolist()):
            if pd.isna(x) or pd.isna(y):
                assert pd.isna(x) and pd.isna(y), (number, column, x, y)
            elif isinstance(x, float) or isinstance(y, float):
                assert near(x, y), (number, column, x, y)
            else:
                assert x == y, (number, column, x, y)


def page(folder, path, truth):
    os.chdir(os.path.dirname(os.path.abspath(folder)))
    assert os.path.basename(folder) == "tables"
    first, *questions = fences(path)
    assert len(questions) == 10, len(questions)
    connection, names = duckdb.connect(), {}
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(first["sql"])
    exec(first["python"], names)
    answers = []
    for number, question in enumerate(questions, 1):
        by_duckdb = connection.sql(question["sql"]).df()
        exec(question["python"], names)
        same_answer(number, by_duckdb, names["answer"])
        answers.append(by_duckdb)
        print(number, len(by_duckdb), "rows")
    is_true(answers, json.load(open(truth)))


def is_true(answers, truth):
    """Holds the answers against what was put into the logbook."""
    fastest, months, invalid, knees, spread, shares, still, kernels, heat, written = answers
    assert fastest.target[0] == truth["fastest"], fastest
    assert fastest.runs.sum() == truth["valid_at_one"], fastest
    by_month = months.set_index(["target", "month"]).p99_us
    assert by_month[truth["slowed"], 12] > 1.3 * by_month[truth["slowed"], 1], months
    for other in truth["steady"]:
        assert 0.9 < by_month[other, 12] / by_month[other, 1] < 1.1, months
    assert sorted(invalid.run) == truth["invalid_runs"], invalid
    assert (invalid.why == "io-errors").all(), invalid
    assert dict(zip(knees.target, knees.knee)) == truth["knees"], knees
    assert (spread.between_runs > 0).all() and spread.within_a_run.notna().any(), spread
    found = dict(zip(shares.code, shares.share))
    assert found.keys() == truth["shares"].keys(), found
    assert all(near(found[code], share) for code, share in truth["shares"].items()), found
    assert sorted(zip(still.run, still["index"].tolist(), still.slice.tolist())) == sorted(
        map(tuple, truth["still"])), still
    assert set(kernels.kernel) == {"6.1.0", "6.12.0"} and kernels.points.sum() == truth["valid_at_16"]
    for _, drive in heat.groupby("target"):
        assert drive.celsius_from.tolist() == [30, 40, 50, 60], heat
        assert drive.mib_per_s.is_monotonic_decreasing, heat
    assert dict(zip(written.target, written.failed)) == truth["failed"], written
    assert all(near(truth["written_gb"][t], gb) for t, gb in zip(written.target, written.written_gb))
    assert set(written.errnos.dropna()) == {"5"}, written


def as_cell(value):
    """What a table has of a value: nothing of an empty text, of an object its compact text."""
    if isinstance(value, dict):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return None if value == "" else value


def same(folder, run_json, run_csv):
    document = json.load(open(run_json))
    run = document["run"]["id"]
    _, table = read(folder, "points")
    rows = [row for row in table.to_pylist() if row["run"] == run]
    cells = list(csv.DictReader(open(run_csv, newline="")))
    assert len(rows) == len(cells) == len(document["points"]) > 0
    for row, line, point in zip(rows, cells, document["points"]):
        for name, cell in line.items():
            assert same_cell(row[name], cell), (name, row[name], cell)
        for time in ("service_time_ns", "response_time_ns"):
            for direction, latency in point[time].items():
                figures = {f"p{name}": value for name, value in latency["percentiles"].items()}
                figures |= {name: latency[name] for name in ("count", "min", "mean", "max")}
                for figure, value in figures.items():
                    assert row[f"{time}_{direction}_{figure}"] == value, (time, direction, figure)
        plain = {name: value for name, value in point.items() if not isinstance(value, (dict, list))}
        for name, value in plain.items():
            if name in ("expected", "interval", "cpu_ns_per_io", "started_at"):
                continue
            assert row[name] == (None if value == "" else value), (name, row[name], value)
        assert row["findings"] == (" ".join(f["code"] for f in point["findings"]) or None)
    for name, entries, keys in [
        ("targets", document["targets"], ["index", "name", "expression", "kind", "area_bytes", "engine"]),
        ("facts", document["environment"] + [f for t in document["targets"] for f in t["facts"]],
         ["subject", "key", "value", "unknown_because", "source"]),
        ("monitors", [w for p in document["points"] for w in p["monitors"]], ["at_ns", "name", "value"]),
        ("errors", [e for p in document["points"] for e in p["errors"]], ["direction", "errno", "count"]),
        ("findings", document["findings"] + [f for p in document["points"] for f in p["findings"]],
         ["code", "severity"]),
    ]:
        rows = [row for row in read(folder, name)[1].to_pylist() if row["run"] == run]
        found = [[row[key] for key in keys] for row in rows]
        assert found == [[as_cell(entry[key]) for key in keys] for entry in entries], name
        if name == "findings":
            doubts = document["findings"] + [f for p in document["points"] for f in p["findings"]]
            assert [json.loads(row["values"]) for row in rows] == [f["values"] for f in doubts]


def same_cell(value, cell):
    if value is None:
        return cell == ""
    if isinstance(value, bool):
        return cell == str(value).lower()
    if isinstance(value, float):
        return value == float(cell)
    if hasattr(value, "isoformat"):
        return pd.Timestamp(value) == pd.Timestamp(cell).floor("us")
    return str(value) == cell.removeprefix("'")


if __name__ == "__main__":
    known = {"schema": schema, "page": page, "same": same, "groups": groups, "list": list_of_runs}
    known[sys.argv[1]](*sys.argv[2:])
    print("OK")
