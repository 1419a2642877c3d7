"""Runs and points of qdepth's logbook as tables: lists of dicts, or pandas frames where pandas is.

>>> import qdepth
>>> qdepth.runs("qdepth.db")
>>> qdepth.points("qdepth.db")            # of the last run
"""

import csv
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys


def program():
    """The path of the program that came with this module, else of that in PATH."""
    beside = os.path.join(os.path.dirname(sys.executable), "qdepth")
    found = beside if os.path.exists(beside) else shutil.which("qdepth")
    if not found:
        raise FileNotFoundError("the program qdepth is neither beside Python nor in PATH")
    return found


def _table(rows):
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


def _export(logbook, run, form):
    words = [program(), "export", run, form, "--logbook", os.fspath(logbook)]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def runs(logbook="qdepth.db"):
    """A row for each run: id, started_at, state, plan_name."""
    uri = "file:" + os.path.abspath(logbook).replace("?", "%3f").replace("#", "%23") + "?mode=ro"
    connection = sqlite3.connect(uri, uri=True)
    try:
        query = "SELECT id, started_at, state, plan_name FROM run ORDER BY started_at"
        cursor = connection.execute(query)
        names = [column[0] for column in cursor.description]
        return _table([dict(zip(names, row)) for row in cursor])
    finally:
        connection.close()


def points(logbook="qdepth.db", run="latest"):
    """A row for each point of a run, numbers as numbers."""
    def value(text):
        try:
            return float(text) if text else None
        except ValueError:
            return text

    rows = csv.DictReader(io.StringIO(_export(logbook, run, "--csv")))
    return _table([{name: value(text) for name, text in row.items()} for row in rows])


def document(logbook="qdepth.db", run="latest"):
    """The whole run as `qdepth export --json` gives it."""
    return json.loads(_export(logbook, run, "--json"))
