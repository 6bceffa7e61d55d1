#!/bin/sh
# bm25s 0.3.16 with numba 0.68.1 and numpy 2.4.6: which of several documents of one score are among the k best depends on the
# backend, and for the backend "numpy" on the processor. It takes them by numpy.argpartition, which has other code for
# AVX-512, for AVX2 and without both; "numba" keeps a heap. Of 40 queries, each a word of 50 documents of one length, all had
# other documents among their 10 best. A query gets k documents in any case: a word that no document has brings the first
# or the last documents of the collection, with score 0, and a run that is written so lists them as found. Seen on 2026-11-30
# with Python 3.11 on an AMD EPYC with AVX-512. Hits@10 of BM25 on short or repeated texts depends on both.
#
# Installs the packages into a temporary folder, asks the same index with each backend and, where the processor has AVX2,
# with numpy's code for processors without it, and fails if that has changed.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q bm25s==0.3.16 numba==0.68.1 numpy==2.4.6
cat > search.py <<'PYTHON'
import json
import sys

import bm25s


def tokens(texts):
    return bm25s.tokenize(texts, stopwords=None, show_progress=False)


index = bm25s.BM25(backend=sys.argv[1])
index.index(tokens([f"w{n % 40} paper" for n in range(2000)]), show_progress=False)
found, scores = index.retrieve(tokens([f"w{n}" for n in range(40)]), k=10, show_progress=False)
assert all(d % 40 == q for q, docs in enumerate(found) for d in docs) and len({*scores.ravel()}) == 1
padding, zeros = index.retrieve(tokens(["absent"]), k=3, show_progress=False)
json.dump({"best": [sorted(docs) for docs in found.tolist()], "padding": [len(padding[0]), zeros[0].tolist()]}, sys.stdout)
PYTHON
cat > compare.py <<'PYTHON'
import json

numba, numpy, plain = (json.load(open(name)) for name in ("numba.json", "numpy.json", "plain.json"))
other = lambda a, b: sum(x != y for x, y in zip(a["best"], b["best"]))
print("numba and numpy: other documents for", other(numba, numpy), "of", len(numba["best"]), "queries")
print("numpy, with and without AVX2 and AVX-512: other documents for some:", other(numpy, plain) > 0)
print("documents and scores for a word that no document has:", *numba["padding"], *numpy["padding"])
PYTHON
venv/bin/python search.py numba >numba.json 2>log || { cat log; exit 1; }
venv/bin/python search.py numpy >numpy.json
NPY_DISABLE_CPU_FEATURES="AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR X86_V3 X86_V4" \
	venv/bin/python -W ignore search.py numpy >plain.json
venv/bin/python compare.py >seen
grep -qw avx2 /proc/cpuinfo && some=True || some=False
cat > expected <<TEXT
numba and numpy: other documents for 40 of 40 queries
numpy, with and without AVX2 and AVX-512: other documents for some: $some
documents and scores for a word that no document has: 3 [0.0, 0.0, 0.0] 3 [0.0, 0.0, 0.0]
TEXT
diff expected seen
cat seen
