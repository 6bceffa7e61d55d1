"""Writes internal/corpora/serialize/testdata/t5-alphabet.txt: the characters that some
piece of T5's vocabulary holds, in code point order on one line. A string has an
<unk> exactly when it has, after normalization, a character outside of it.

usage: python serialize_t5_alphabet.py TOKENIZER_JSON > t5-alphabet.txt
(tokenizer.json of t5-base; standard library only, any Python 3)
"""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    model = json.load(f)["model"]
special = {"<pad>", "</s>", "<unk>"} | {f"<extra_id_{i}>" for i in range(100)}
chars = set()
for piece, _ in model["vocab"]:
    if piece not in special:
        chars.update(piece)
chars.discard("\u2581")  # stands for the blank
sys.stdout.write("".join(sorted(chars)) + "\n")
