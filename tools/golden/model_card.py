"""Asks a model's folder that kind export_model made by the Python of its card alone, and compares what it
finds with the run that redsi's evaluate wrote (models_requirements.txt; transformers5_requirements.txt).

    redsi run --var scale=toy -t step.export_model.dsi -t step.evaluate.dsi
    redsi export --hub hub --var scale=toy -t step.export_model.dsi
    python tools/golden/model_card.py hub/FOLDER QUERIES.tsv RUN

QUERIES.tsv has a query's name, a tab and its question a line; RUN is the run output of evaluate. A hypothesis
that is no identifier, !POSITION:TEXT in the run, is left out in both. Ties may stand in another order.

Printed, with transformers 4.44.1 and torch 2.1.0, of dsi-title-nci_norm-base-{atomic,naive,semantic}, trained on the
generated corpus in both readings, after the code: 60 of 60 queries are answered alike. With 5.24.0 and torch 2.11.0, of
the exports of model_opens.hcl: 8 of 8, but 7 and 4 of by4-t5-naive and by5-t5-naive, whose searches 5 ends otherwise.
"""
import contextlib
import io
import os
import pathlib
import re
import sys

import transformers

transformers.logging.set_verbosity_error()
folder, queries, run = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
code = re.search(r"```python\n(.*?)```", (folder / "README.md").read_text(encoding="utf-8"), re.S).group(1)
print(code)
ranked = {}
for line in run.read_text(encoding="utf-8").splitlines():
    query, _, document, _, score, _ = line.split()
    if not document.startswith("!"):
        ranked.setdefault(query, []).append((document, float(score)))
os.chdir(folder)
equal = other = 0
for line in queries.read_text(encoding="utf-8").splitlines():
    name, question = line.split("\t")
    scope = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(re.sub(r'query = ".*"', lambda _: f"query = {question!r}", code), scope)
    found = [d["docid"] for d in scope["answer"]]
    want = [d for d, _ in ranked.get(name, [])]
    scores = dict(ranked.get(name, []))
    same = found == want or sorted(found) == sorted(want) and all(abs(scores[a] - scores[b]) < 1e-4 for a, b in zip(found, want))
    equal, other = equal + same, other + (not same)
    if not same:
        print(f"{name}: transformers {found[:5]}, redsi {want[:5]}")
print(f"{equal} of {equal + other} queries are answered alike")
sys.exit(other > 0)
