"""Writes internal/ranking/bm25/testdata: texts, and what bm25s, rank_bm25 and Lucene make of them.

pip install -r bm25_requirements.txt
pip download --no-deps pyserini==0.22.1    # its wheel has anserini-0.22.1-fatjar.jar, Lucene 9.5
python bm25.py --jar anserini-0.22.1-fatjar.jar internal/ranking/bm25/testdata
"""
import argparse
import base64
import gzip
import json
import math
import os
import random
import subprocess

import bm25s
import Stemmer
from rank_bm25 import BM25Okapi, BM25Plus

WORDS = """run runs running runner's ponies caresses relational conditional rationalization hopefulness
electrical adjustable replacement triplicate formalize sensitivity sensibility the a and of is not to
query queries database databases index indices indexed indexing transaction transactional vacuum
Paris London river rivers mountain mountains 1984 3.14 2,000 e-mail state-of-the-art Don't U.S.A. O'Reilly
naïve café Straße ΟΔΟΣ İstanbul 東京 にほん カタカナ 한국어 ภาษาไทย foo_bar __init__ x ab C++ 9 user's USERS’ ©""".split()
ODD = ["", " ", "_", "…", "'s", "x's X'S x’s x＇s s's", "can't won't rock'n'roll", "a.b.c a,b 1,2 1.2.3 1a a1", "http://a.b/c?d=e#f me@x.org",
       "foo__bar _x_ x_ _", "שלום ד\"ר ג'ורג'", "ｶﾀｶﾅ ー カー", "日本語のテキスト 𠀀𠀁", "ภาษาไทย ไทย1ไทย ລາວ မြန်မာ ខ្មែរ", "한국어 텍스트", "😀 👍🏽 👨‍👩‍👧 🇩🇪🇫🇷 🇩 ❤️ © ® ™ #️⃣",
       "é e\u0301 a\u00adb a\u200bb a\u200db", "ΣΑΣ ΟΔΟΣ İI ı ß ſ ǅ", "y sky skies dying eed eeds ies sses ss s is", "a" * 300 + " " + "ab1" * 200 + " " + "𝒜" * 200,
       "½ ² ⅷ ④ ٣٤ ৪৫", "tab\tnew\nline\r\nnbsp\u00a0thin\u2009sep\u2028u\x1cfs", "Thе mixed Cyrillic с", "sensibiliti logi apologi possibli abli"]


def texts():
    r = random.Random(25)
    weights = [1 / (i + 1) for i in range(len(WORDS))]
    order = WORDS[:]
    r.shuffle(order)
    docs = []
    for i in range(90):
        n = [0, 1, 3, 12, 39, 40, 41, 45, 90, 250, 700][i % 11] if i % 3 else r.randint(1, 60)
        docs.append(" ".join(r.choices(order, weights, k=n)))
    docs[7] += " Paris" * 300  # more than a byte counts
    docs[8] = docs[9]  # equal scores
    docs[20] = "the of and"  # no term
    queries = [" ".join(r.choices(order, k=r.randint(1, 7))) for _ in range(12)]
    queries += ["Paris Paris river", "nowhere", "the", "", "mountain mountains Mountain running run"]
    return docs, queries


def rankings(scores, matched):
    out = []
    for s, m in zip(scores, matched):
        out.append([[d, float(s[d])] for d in sorted(m, key=lambda d: (-s[d], d))])
    return out


def matched(docs, queries):
    sets = [set(d) for d in docs]
    return [[i for i, s in enumerate(sets) if s & set(q)] for q in queries]


def lucene(jar, k1, b, odd, docs, queries):
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Bm25Lucene.java")
    lines = [k + " " + base64.b64encode(t.encode()).decode() for k, ts in (("T", odd + docs), ("D", docs), ("Q", queries)) for t in ts]
    out = subprocess.run(["java", "-cp", jar, here, str(k1), str(b)], input="\n".join(lines) + "\n", text=True, check=True, stdout=subprocess.PIPE).stdout
    out = [json.loads(l) for l in out.splitlines()]
    n = len(odd) + len(docs)
    return out[:n], out[n:]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--jar", required=True)
    p.add_argument("out")
    a = p.parse_args()
    docs, queries = texts()
    golden = {"documents": docs, "queries": queries, "odd": ODD, "tokens": {}, "rankings": []}

    tokens, hits = lucene(a.jar, 0.9, 0.4, ODD, docs, queries)
    golden["tokens"]["lucene_english"] = tokens
    golden["rankings"].append({"peer": "lucene", "tokenizer": "lucene_english", "formula": "lucene", "lengths": True, "k1": 0.9, "b": 0.4, "hits": hits})
    _, hits = lucene(a.jar, 1.2, 0.75, ODD, docs, queries)
    golden["rankings"].append({"peer": "lucene", "tokenizer": "lucene_english", "formula": "lucene", "lengths": True, "k1": 1.2, "b": 0.75, "hits": hits})

    def words(ts, stop, stemmer):
        return bm25s.tokenize(ts, stopwords="english" if stop else [], stemmer=Stemmer.Stemmer(stemmer) if stemmer else None, return_ids=False, show_progress=False)

    for name, stop, stemmer in (("words", True, ""), ("words/none/english", False, "english"), ("words/english/porter", True, "porter")):
        golden["tokens"][name] = words(ODD + docs, stop, stemmer)
    golden["tokens"]["whitespace"] = [t.split() for t in ODD + docs]

    d, q = words(docs, True, ""), words(queries, True, "")
    m = matched(d, q)
    for method, k1, b, delta in (("lucene", 1.5, 0.75, 0), ("lucene", 0.9, 0.4, 0), ("robertson", 1.2, 0.75, 0), ("atire", 1.5, 0.75, 0), ("bm25+", 1.5, 0.75, 1.0), ("bm25l", 1.5, 0.75, 0.5)):
        r = bm25s.BM25(method=method, k1=k1, b=b, delta=delta, dtype="float64")
        r.index(d, show_progress=False)
        known = [[t for t in ts if t in r.vocab_dict] for ts in q]
        s = [r.get_scores(ts) if ts else [0.0] * len(docs) for ts in known]
        golden["rankings"].append({"peer": "bm25s", "tokenizer": "words", "formula": method, "k1": k1, "b": b, "delta": delta, "absent": delta > 0, "hits": rankings(s, m)})

    d, q = [t.split() for t in docs], [t.split() for t in queries]
    m = matched(d, q)
    for formula, model in (("okapi", BM25Okapi(d, epsilon=0.25)), ("bm25+", BM25Plus(d))):
        s = [model.get_scores(ts) for ts in q]
        golden["rankings"].append({"peer": "rank_bm25", "tokenizer": "whitespace", "formula": formula, "k1": 1.5, "b": 0.75, "delta": getattr(model, "delta", 0), "absent": formula == "bm25+", "hits": rankings(s, m)})

    for r in golden["rankings"]:
        assert all(math.isfinite(s) for hits in r["hits"] for _, s in hits)
    os.makedirs(a.out, exist_ok=True)
    with open(os.path.join(a.out, "golden.json.gz"), "wb") as f, gzip.GzipFile("", "wb", fileobj=f, mtime=0) as z:
        z.write(json.dumps(golden, ensure_ascii=True, separators=(",", ":")).encode())


main()
