"""Beam searches of transformers 4.44.1 with the tiny models of internal/model/t5/testdata.

Writes internal/model/decode/testdata/beam_t5.json: sequences and scores of generate()
with 40 beams, unconstrained and with prefix_allowed_tokens_fn over 1,500 random
identifiers, with early_stopping False ("free", "trie") and True ("free/full",
"trie/full"), for queries of several lengths in one padded batch.

    pip install -r tools/golden/beam_requirements.txt
    python tools/golden/beam_t5.py
"""

import json
import os
import random

import torch
from transformers import T5ForConditionalGeneration

from shared import allowed, mask, pad

HERE = os.path.dirname(__file__)
MODELS = os.path.join(HERE, "../../internal/model/t5/testdata")
OUT = os.path.join(HERE, "../../internal/model/decode/testdata/beam_t5.json")


def main():
    r = random.Random(7)
    queries = [[r.randrange(2, 100) for _ in range(n)] + [1] for n in (5, 1, 17, 40, 9)]
    identifiers = sorted({tuple(r.randrange(2, 40) for _ in range(r.randrange(1, 5))) for _ in range(1500)})
    identifiers = [list(s) + [1] for s in identifiers]
    ids = pad(queries, 0)
    out = dict(queries=queries, identifiers=identifiers, results={})
    for name in ("v1_0", "v1_1"):
        model = T5ForConditionalGeneration.from_pretrained(os.path.join(MODELS, name)).eval()
        for mode in ("free", "trie", "free/full", "trie/full"):
            extra = {}
            if mode.startswith("trie"):
                extra["prefix_allowed_tokens_fn"] = allowed(identifiers, 1)
            g = model.generate(
                ids, attention_mask=mask(queries), num_beams=40, num_return_sequences=40, max_new_tokens=6,
                length_penalty=1.0, early_stopping=mode.endswith("full"), return_dict_in_generate=True, output_scores=True, **extra,
            )
            rows = []
            for i, seq in enumerate(g.sequences.tolist()):
                seq = seq[1:]
                seq = seq[: seq.index(1) + 1] if 1 in seq else seq
                rows.append(dict(tokens=seq, score=round(g.sequences_scores[i].item(), 6)))
            out["results"][f"{name}/{mode}"] = [rows[i : i + 40] for i in range(0, len(rows), 40)]
        # What atomic identifiers would be: the first step's order of a token range.
        with torch.no_grad():
            logits = model(input_ids=ids, attention_mask=mask(queries), decoder_input_ids=torch.zeros(len(queries), 1, dtype=torch.long)).logits[:, 0, 30:]
        best = logits.log_softmax(-1).topk(10)
        out["results"][f"{name}/atomic"] = [
            [dict(tokens=[t], score=round(s, 6)) for t, s in zip(ts, ss)] for ts, ss in zip(best.indices.tolist(), best.values.tolist())
        ]
    with open(OUT, "w") as f:
        json.dump(out, f, separators=(",", ":"))
        f.write("\n")


main()
