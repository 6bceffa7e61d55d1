#!/bin/sh
# nbclient 0.11.0 with ipykernel 7.4.0 and IPython 9.18.1: a notebook counts as executed, and its later cells run, although
# a cell failed, if the exception was raised under %run or in a %%capture cell. The cell has an output of type "error" all
# the same. Under %%time, or without a magic, the same exception stops the notebook with CellExecutionError. IPython shows
# the exception of the two magics itself and then answers the execution request with status "ok", by which nbclient (and so
# nbconvert --execute and papermill) judges. Seen on 2026-11-28 with Python 3.11.
#
# Installs the packages into a temporary folder, runs five notebooks of two cells, and fails if their ends have changed.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q nbclient==0.11.0 nbformat==5.11.1 ipykernel==7.4.0 ipython==9.18.1 jupyter-client==8.10.0
cat > notebooks.py <<'PYTHON'
import pathlib

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook

fails = "raise ValueError('no data')"
pathlib.Path("fails.py").write_text(fails + "\n")
for cell in [fails, "%%time\n" + fails, "%run fails.py", "%%capture text\n" + fails, "print('well')"]:
    book = new_notebook(cells=[new_code_cell(cell), new_code_cell("print('went on')")])
    try:
        NotebookClient(book, kernel_name="python3").execute()
        end = "executed"
    except CellExecutionError:
        end = "CellExecutionError"
    first, last = ([o.output_type for o in c.outputs] for c in book.cells)
    print(cell.split("\n")[0], "|", end, "| error shown:", "error" in first, "| went on:", bool(last))
PYTHON
venv/bin/python notebooks.py 2>kernel.log >seen || { cat seen kernel.log; exit 1; }
cat > expected <<'TEXT'
raise ValueError('no data') | CellExecutionError | error shown: True | went on: False
%%time | CellExecutionError | error shown: True | went on: False
%run fails.py | executed | error shown: True | went on: True
%%capture text | executed | error shown: True | went on: True
print('well') | executed | error shown: False | went on: True
TEXT
diff expected seen
cat seen
