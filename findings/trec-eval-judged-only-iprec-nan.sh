#!/bin/sh
# pytrec_eval-terrier 0.5.11 (trec_eval 9.0.8), and ir_measures 0.4.3 on it: with judged documents only (trec_eval -J), the
# interpolated precision of a query without a relevant document is not a number where its ranking has no judged document
# either, and so is the mean over all queries: it is 0 of 0 documents. AP, nDCG and P at 5 of the same query are 0, and so is
# interpolated precision without judged_only. Seen on 2026-11-30 with Python 3.11.
#
# Installs the packages into a temporary folder, scores two queries, one of them such, and fails if that has changed.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q ir-measures==0.4.3 pytrec-eval-terrier==0.5.11 numpy==2.4.6
cat > score.py <<'PYTHON'
import ir_measures
from ir_measures import AP, P, IPrec, nDCG

qrels = {"found": {"a": 1, "b": 0}, "unjudged": {"a": 0}}
run = {"found": {"a": 2.0, "x": 1.0}, "unjudged": {"x": 2.0, "y": 1.0}}
for measure in [IPrec @ 0.1, IPrec(judged_only=True) @ 0.1, AP(judged_only=True), nDCG(judged_only=True) @ 10, P(judged_only=True) @ 5]:
    of = {m.query_id: m.value for m in ir_measures.iter_calc([measure], qrels, run)}
    mean = ir_measures.calc_aggregate([measure], qrels, run)[measure]
    print(measure, "| found", of["found"], "| unjudged", of["unjudged"], "| mean", mean)
PYTHON
venv/bin/python score.py >seen 2>log || { cat seen log; exit 1; }
cat > expected <<'TEXT'
IPrec@0.1 | found 1.0 | unjudged 0.0 | mean 0.5
IPrec(judged_only=True)@0.1 | found 1.0 | unjudged nan | mean nan
AP(judged_only=True) | found 1.0 | unjudged 0.0 | mean 0.5
nDCG(judged_only=True)@10 | found 1.0 | unjudged 0.0 | mean 0.5
P(judged_only=True)@5 | found 0.2 | unjudged 0.0 | mean 0.1
TEXT
diff expected seen
