"""Golden tokenize-and-decode of page titles with transformers' slow BertTokenizer.

    pip install -r bert_normalize_requirements.txt
    python bert_normalize.py TOKENIZER.json.gz OUT.jsonl.gz

TOKENIZER.json.gz is assets/tokenizers/bert-base-uncased-tokenizer.json.gz; its
vocabulary is written to a vocab.txt for BertTokenizer. Each line is
{"t": title, "n": decode(tokenize(title)), "i": ids with [CLS] and [SEP],
truncated to 512}. Titles come from a seeded generator: a rerun writes the same
bytes.
"""
import gzip
import json
import os
import random
import sys
import tempfile

from transformers import BertTokenizer

from t5_tokenizer import BLOCKS, PUNCT, SPACES, WORDS

COUNT = 5_000
TRAPS = ["", " ", "``", "--", "- -", "U.S.", "U. S. A.", "1918–19 season", "1918 -- 19 season", "The Walking Dead ( season 8 )",
         "It Takes a Village", "It takes a village", "Elsa (Disney)", "Beyoncé", "İstanbul", "ΟΔΟΣ", "Σ ς σ", "ẞ ß", "ǅ ǆ", "ﬁnal",
         "can't won't I'm it's they've we're", "don 't", "ca n't", "' s", "'s", "x 's y", "a ' b", "' '", "rock ' n ' roll", "what ?", "oh ! , .",
         "a . b", "...", "e.g.", "O'Brien's", "[UNK]", "[unk]", "[MASK]x", "x[SEP]y", "[CLS] [PAD]", "[CL S]", "a" * 100, "a" * 101, "é" * 101,
         "x" * 99 + " " + "y" * 200, "日本語", "東京 Tokyo", "한국어", "ไทย", "हिन्दी", "עברית", "العربية", "😀 emoji 😀", "a😀b", "C++", "C#", "## a", "a##b",
         "$9.99", "100%", "A&B", "AC/DC", "a_b", "~^|\\<>", "½ ² ×", "\u00ada\u00adb", "a\u200bb", "a\u2028b", "a\u0085b", "a\u001cb", "a\0b",
         "\ufffdx", "a\u00a0b", "a\u3000b", "\ta\nb\r\nc", "e\u0301", "a \u0301b", "\u0301", "x\u0345", "Å", "\u212b", "\u1e9b\u0323", "Kelvin \u212a",
         "𝐀𝐁", "ＡＢＣ", "\U00010400", "\ue000", "\u0378", "„quoted“", "«x»", "…", "·", "•", "–", "—", "‘’", "“”", "¿qué?", "¡hola!",
         "unaffable", "antidisestablishmentarianism", "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogoch", "COVID-19", "9/11", "24 (TV series)",
         "...And Justice for All (album)", ".hack", "'Til Tuesday", "N'Sync", "n't", "'m", "'ve 're", " . ", "a  .  b"]


def titles():
    rng = random.Random(320)
    pick = rng.choice

    def title():
        t = " ".join(w.capitalize() if rng.random() < 0.7 else w for w in rng.choices(WORDS, k=rng.randint(1, 7)))
        return t + (f" ({pick(WORDS)})" if rng.random() < 0.3 else "")

    def stored():
        return " ".join(pick(PUNCT + ["'s", "n't", "'m", "'ve", "'re"]) if rng.random() < 0.35 else pick(WORDS) for _ in range(rng.randint(1, 10)))

    def unicode():
        out = []
        for _ in range(rng.randint(1, 4)):
            lo, hi = pick(BLOCKS)
            out.append("".join(chr(rng.randint(lo, hi)) for _ in range(rng.randint(1, 6))))
        return pick(["", " "]).join(out)

    def junk():
        return "".join(pick(PUNCT + WORDS + SPACES + ["[UNK]", "[SEP]", "##"]) for _ in range(rng.randint(1, 16)))

    def long():
        return " ".join(rng.choices(WORDS + PUNCT, k=rng.randint(300, 700)))

    seen = set(TRAPS)
    yield from TRAPS
    while len(seen) < COUNT:
        kind = long if len(seen) % 500 == 0 else pick([title, title, stored, stored, unicode, junk])
        t = kind()
        if t not in seen:
            seen.add(t)
            yield t


def main(tokenizer_json, out):
    with gzip.open(tokenizer_json) as f:
        vocab = json.load(f)["model"]["vocab"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "vocab.txt")
        with open(path, "w", encoding="utf-8", newline="\n") as f:
            f.writelines(piece + "\n" for piece, _ in sorted(vocab.items(), key=lambda kv: kv[1]))
        bert = BertTokenizer(path, clean_up_tokenization_spaces=True)
    if bert.get_vocab() != vocab:
        sys.exit("vocab.txt does not give the ids of tokenizer.json")
    with open(out, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=9, mtime=0) as f:
        for t in titles():
            decoded = bert.decode(bert.convert_tokens_to_ids(bert.tokenize(t)))
            ids = bert(t, truncation=True, max_length=512).input_ids
            line = {"t": t, "n": decoded, "i": ids}
            f.write((json.dumps(line, ensure_ascii=True, separators=(",", ":")) + "\n").encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
