"""Golden ids of the T5 tokenizer on 10,000 generated strings.

    pip install -r t5_tokenizer_requirements.txt
    python t5_tokenizer.py SPIECE_MODEL OUT.jsonl.gz

SPIECE_MODEL is t5-base's SentencePiece model (sha256 below). The strings come
from a seeded generator, so a rerun writes the same bytes. Each line is
{"t": text, "i": ids with </s>}. The fast tokenizer is the oracle (what
AutoTokenizer gives); the slow one is run too and differences are printed.
"""
import gzip
import hashlib
import json
import random
import sys

from transformers import T5Tokenizer, T5TokenizerFast

SHA256 = "d60acb128cf7b7f2536e8f38a5b18a05535c9e14c7a355904270e15b0945ea86"
COUNT = 10_000

WORDS = """the of in and a to who what when where how many is was did does sings played by first last new season episode
world war king queen united states president river capital city battle national league cup final song album film series
written actor actress voice character names mother father house state largest population number meaning origin history
Walking Dead Selena Gomez Matt Lanter Colony Ruthenium boride Capitol Hill Color space Readability Elsa Frozen Disney
Beyoncé Zürich São Paulo Łódź naïve café Ōsaka Đà Nẵng Kraków Malmö İstanbul straße Ångström coöperate rôle ﬁnal""".split()
PUNCT = list(".,;:!?()[]{}'\"-/&%$#@*+=_~^|\\<>") + ["–", "—", "“", "”", "‘", "’", "…", "''", "``", "--", "•", "·", "°", "′", "½", "²", "×", "−"]
IPA = list("ɡəˈˌɪʊɛæɑːɔðθʃʒŋɹɾʌɒɜ") + list("abcdefghijklmnopqrstuvwxyz")
SPACES = [" ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u2009", "\u3000", "\u200b", "\u200a", "\u2028", "\u1680", "\ufeff", "\u00ad", "\u180e"]
SPECIAL = ["</s>", "<pad>", "<unk>", "<extra_id_0>", "<extra_id_99>", "<s>", "<P>", "</Table>", "▁", "▁the"]
BLOCKS = [(0x20, 0x7E), (0xA0, 0xFF), (0x100, 0x24F), (0x250, 0x2AF), (0x2B0, 0x2FF), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x4FF),
          (0x590, 0x5FF), (0x600, 0x6FF), (0x900, 0x97F), (0xE00, 0xE7F), (0x1E00, 0x1EFF), (0x2000, 0x206F), (0x2070, 0x209F),
          (0x20A0, 0x20BF), (0x2100, 0x214F), (0x2150, 0x218F), (0x2190, 0x21FF), (0x2200, 0x22FF), (0x2460, 0x24FF),
          (0x3040, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xE000, 0xE0FF), (0xF900, 0xFAFF), (0xFB00, 0xFB4F), (0xFF00, 0xFFEF),
          (0x1D400, 0x1D7FF), (0x1F300, 0x1F64F), (0x1, 0x1F), (0x7F, 0x9F)]


def strings():
    rng = random.Random(20180301)
    pick = rng.choice

    def title():
        t = " ".join(w.capitalize() if rng.random() < 0.8 else w for w in rng.choices(WORDS, k=rng.randint(1, 6)))
        if rng.random() < 0.3:
            t += " (" + " ".join(rng.choices(WORDS, k=rng.randint(1, 2))) + ")"
        return t + (" - Wikipedia" if rng.random() < 0.3 else "")

    def query():
        return " ".join(rng.choices(WORDS, k=rng.randint(3, 12))).lower()

    def stored():  # as NQ stores text: blanks around every token
        return " ".join(pick(PUNCT) if rng.random() < 0.3 else pick(WORDS) for _ in range(rng.randint(2, 30)))

    def digits():
        return str(rng.randrange(10 ** rng.randint(1, 12)))

    def unicode():
        out = []
        for _ in range(rng.randint(1, 4)):
            lo, hi = pick(BLOCKS)
            out.append("".join(chr(rng.randint(lo, hi)) for _ in range(rng.randint(1, 8))))
        return pick(["", " "]).join(out)

    def spaced():
        return "".join(pick(SPACES) if rng.random() < 0.45 else pick(WORDS) for _ in range(rng.randint(1, 12)))

    def pronunciation():
        return f"{title()} (/{''.join(rng.choices(IPA, k=rng.randint(2, 12)))}/; born {rng.randint(1, 28)} April {rng.randint(1700, 2017)})"

    def special():
        return "".join(pick([pick(SPECIAL), pick(WORDS), pick(SPACES), pick(PUNCT)]) for _ in range(rng.randint(1, 8)))

    def junk():
        return "".join(pick(PUNCT + WORDS + SPACES) for _ in range(rng.randint(1, 25)))

    kinds = [title, query, stored, digits, digits, unicode, unicode, spaced, pronunciation, special, junk]
    fixed = ["", " ", "   ", "0", "1", "00", "007", "305", "141913", "18510", "a\0b", "\0", "a\0\0b", "a \0 b", "x ", " x", "  x  y  ",
             "mat't '' lanter ( born april 1 ,", 'matt" lanter (born april 1,', "e\u0301", "\u0301", "a \u0301b", "x" * 300, "日本語" * 40]
    seen = set()
    for s in fixed:
        seen.add(s)
        yield s
    while len(seen) < COUNT:
        s = pick(kinds)()
        if s not in seen:
            seen.add(s)
            yield s


def main(model, out):
    with open(model, "rb") as f:
        got = hashlib.sha256(f.read()).hexdigest()
    if got != SHA256:
        sys.exit(f"{model}: sha256 {got}, want {SHA256}")
    fast = T5TokenizerFast(vocab_file=model, extra_ids=100)
    slow = T5Tokenizer(vocab_file=model, extra_ids=100, legacy=True)
    differ = 0
    with open(out, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=9, mtime=0) as f:
        for s in strings():
            ids = fast(s).input_ids
            if slow(s).input_ids != ids:
                differ += 1
                if differ <= 10:
                    print("slow differs:", ascii(s), ids, slow(s).input_ids)
            f.write((json.dumps({"t": s, "i": ids}, ensure_ascii=True, separators=(",", ":")) + "\n").encode())
    print(f"{COUNT} strings, slow tokenizer differs on {differ}")


if __name__ == "__main__":
    main(*sys.argv[1:])
