"""Beam searches of transformers 4.44.1 over a model that is a table.

The next token's logits are a hash of query, step, last token and token, so that a
test needs no weights. Writes internal/model/decode/testdata/beam_table.json: for each
configuration, the sequences and scores of generate().

    pip install -r tools/golden/beam_requirements.txt
    python tools/golden/beam_table.py
"""

import json
import os

import torch
from transformers import T5Config, T5ForConditionalGeneration
from transformers.modeling_outputs import BaseModelOutput, Seq2SeqLMOutput

from shared import allowed

MASK = (1 << 64) - 1
OUT = os.path.join(os.path.dirname(__file__), "../../internal/model/decode/testdata/beam_table.json")


def mix(x):
    """The finalizer of splitmix64."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def logit(seed, query, step, last, token, eos_bonus):
    h = seed
    for v in (query, step, last, token):
        h = mix((h + 0x9E3779B97F4A7C15 + v) & MASK)
    x = (h >> 40) / (1 << 24) * 6
    return x + eos_bonus * step if token == 1 else x


class Encoder:
    """Hands the query's number on to the decoder."""

    main_input_name = "input_ids"

    def forward(self, input_ids, **kw):
        return BaseModelOutput(last_hidden_state=input_ids[:, :, None].float())

    __call__ = forward


class Table(T5ForConditionalGeneration):
    def __init__(self, vocab, seed, eos_bonus):
        super().__init__(T5Config(vocab_size=vocab, d_model=4, d_kv=2, d_ff=4, num_layers=1, num_heads=1, decoder_start_token_id=0))
        self.seed, self.eos_bonus, self.rows = seed, eos_bonus, {}

    def get_encoder(self):
        return Encoder()

    def row(self, query, step, last):
        key = (query, step, last)
        if key not in self.rows:
            self.rows[key] = [logit(self.seed, query, step, last, t, self.eos_bonus) for t in range(self.config.vocab_size)]
        return self.rows[key]

    def forward(self, decoder_input_ids=None, encoder_outputs=None, **kw):
        queries = encoder_outputs[0][:, 0, 0].long().tolist()
        step = decoder_input_ids.shape[1]
        rows = [self.row(q, step, ids[-1]) for q, ids in zip(queries, decoder_input_ids.tolist())]
        return Seq2SeqLMOutput(logits=torch.tensor(rows, dtype=torch.float32)[:, None, :])


def identifiers(seed, vocab, count, longest):
    """Prefix-free token sequences that end in </s>."""
    out, x = [], seed
    seen = set()
    while len(out) < count:
        x = mix((x + 0x9E3779B97F4A7C15) & MASK)
        n = 1 + x % longest
        ids = []
        for _ in range(n):
            x = mix((x + 0x9E3779B97F4A7C15) & MASK)
            ids.append(2 + x % (vocab - 2))
        if tuple(ids) not in seen:
            seen.add(tuple(ids))
            out.append(ids + [1])
    return out


def main():
    cases = []
    for c in (
        dict(name="paper", vocab=120, beams=40, returned=40, tokens=6, penalty=1.0, early=False, eos=0.4),
        dict(name="few returned", vocab=90, beams=12, returned=5, tokens=5, penalty=1.0, early=False, eos=0.5),
        dict(name="early", vocab=60, beams=8, returned=8, tokens=6, penalty=1.0, early=True, eos=0.6),
        dict(name="never", vocab=60, beams=8, returned=8, tokens=6, penalty=1.0, early="never", eos=0.8),
        dict(name="never, long preferred", vocab=60, beams=6, returned=6, tokens=7, penalty=2.0, early="never", eos=1.0),
        dict(name="short preferred", vocab=60, beams=6, returned=6, tokens=7, penalty=-0.5, early="never", eos=1.0),
        dict(name="no penalty", vocab=60, beams=6, returned=6, tokens=7, penalty=0.0, early=False, eos=1.0),
        dict(name="one step", vocab=90, beams=40, returned=40, tokens=1, penalty=1.0, early=False, eos=0.0),
        dict(name="small vocabulary", vocab=20, beams=16, returned=16, tokens=4, penalty=1.0, early=False, eos=0.5),
        dict(name="trie", vocab=120, beams=40, returned=40, tokens=5, penalty=1.0, early=False, eos=0.0, ids=2000, longest=4),
        dict(name="trie, never", vocab=120, beams=40, returned=40, tokens=5, penalty=1.0, early="never", eos=0.0, ids=2000, longest=4),
        dict(name="trie, few identifiers", vocab=30, beams=16, returned=16, tokens=5, penalty=1.0, early=False, eos=0.0, ids=10, longest=4),
        dict(name="trie, narrow root", vocab=8, beams=16, returned=16, tokens=5, penalty=1.0, early=False, eos=0.0, ids=300, longest=4),
        dict(name="paper, early", vocab=120, beams=40, returned=40, tokens=6, penalty=1.0, early=True, eos=1.0),
        dict(name="trie, early", vocab=120, beams=40, returned=40, tokens=5, penalty=1.0, early=True, eos=0.0, ids=2000, longest=4),
    ):
        seed, queries = 1000 + len(cases), 3
        model = Table(c["vocab"], seed, c["eos"])
        extra = {}
        if "ids" in c:
            extra["prefix_allowed_tokens_fn"] = allowed(identifiers(seed, c["vocab"], c["ids"], c["longest"]), 1)
        out = model.generate(
            torch.arange(queries)[:, None],
            attention_mask=torch.ones(queries, 1, dtype=torch.long),
            num_beams=c["beams"],
            num_return_sequences=c["returned"],
            max_new_tokens=c["tokens"],
            length_penalty=c["penalty"],
            early_stopping=c["early"],
            use_cache=False,
            return_dict_in_generate=True,
            output_scores=True,
            **extra,
        )
        c.update(seed=seed, queries=queries, results=[])
        for q in range(queries):
            rows = []
            for i in range(q * c["returned"], (q + 1) * c["returned"]):
                ids = out.sequences[i].tolist()[1:]
                ids = ids[: ids.index(1) + 1] if 1 in ids else ids
                rows.append(dict(tokens=ids, score=round(out.sequences_scores[i].item(), 6)))
            # Beams that began at -1e9, or went on under the mask, are not hypotheses.
            c["results"].append([r for r in rows if r["score"] > -1e6])
        cases.append(c)
        print(c["name"], [len(r) for r in c["results"]])
    with open(OUT, "w") as f:
        json.dump(cases, f, separators=(",", ":"))
        f.write("\n")


main()
