"""Goldens of transformers 5.24.0 beside those of 4.44.1 that t5.py, beam_t5.py and bert.py make: tiny models as it writes them.

Transformers 5 says tie_word_embeddings = true of every T5, and whether the decoder's states are scaled by a flag of its own. Writes
to internal/model/t5/testdata/by5 the folders "resaved", "mt5_resaved" and "umt5_resaved" (t5.py's gated_silu, mt5 and umt5_untied,
which have an output matrix of their own), "bf16" (the first in bfloat16 and in several files), "untied" (made with
tie_word_embeddings = False, which is tied all the same), "tied" and "mt5", each with config.json, weights and what transformers
computes of them in float32 (golden.safetensors); to internal/model/decode/testdata/beam_by5.json free searches with 40 beams; and to
internal/model/bert/testdata/by5 a BERT. (t5.py's v1_1 will not do: 5.24.0 generates with no model of more decoder than encoder
layers.)

    pip install -r tools/golden/transformers5_requirements.txt
    python tools/golden/transformers5.py
"""
import json
import pathlib
import random

import torch
from safetensors.torch import save_file
from transformers import (BertConfig, BertModel, MT5Config, MT5ForConditionalGeneration, T5Config, T5ForConditionalGeneration,
                          UMT5ForConditionalGeneration)

from bert import SIZES, compute as vectors
from shared import mask, pad

MODELS = pathlib.Path(__file__).parent / "../../internal/model"
T5 = MODELS / "t5/testdata"
TINY = dict(vocab_size=160, d_model=8, d_kv=4, d_ff=12, num_layers=2, num_decoder_layers=2, num_heads=2,
             relative_attention_num_buckets=8, relative_attention_max_distance=20, decoder_start_token_id=0)


def fresh(kind, config, **options):
    torch.manual_seed(12)
    model = kind(config(**TINY, **options))
    with torch.no_grad():  # norms of 1 and large q would hide mistakes
        for p in model.parameters():
            p.add_(torch.randn_like(p) * 0.05)
    return model


def compute(model, inputs, labels):
    """What transformers makes of the batch."""
    out = model(input_ids=pad(inputs, 0), attention_mask=mask(inputs), labels=pad(labels, -100))
    rows = lambda t, lengths: torch.cat([t[i, : len(r)] for i, r in enumerate(lengths)]).contiguous()
    return {"loss": out.loss.reshape(1), "logits": rows(out.logits, labels), "encoder": rows(out.encoder_last_hidden_state, inputs)}


def search(model, queries):
    """Hypotheses as beam_t5.py writes them; a search with early_stopping = True ends in 5 as in 4.44.1."""
    g = model.generate(pad(queries, 0), attention_mask=mask(queries), num_beams=40, num_return_sequences=40, max_new_tokens=6,
                       length_penalty=1.0, early_stopping=True, return_dict_in_generate=True, output_scores=True)
    rows = []
    for i, seq in enumerate(g.sequences.tolist()):
        seq = seq[1:]
        rows.append(dict(tokens=seq[: seq.index(1) + 1] if 1 in seq else seq, score=round(g.sequences_scores[i].item(), 6)))
    return [rows[i : i + 40] for i in range(0, len(rows), 40)]


def main():
    batch = json.loads((T5 / "batch.json").read_text())
    r = random.Random(7)
    queries = [[r.randrange(2, 100) for _ in range(n)] + [1] for n in (5, 9)]
    out = dict(queries=queries, identifiers=[[2, 1]], results={})
    for name, model in {
        "resaved": T5ForConditionalGeneration.from_pretrained(T5 / "gated_silu"),
        "mt5_resaved": MT5ForConditionalGeneration.from_pretrained(T5 / "mt5"),
        "untied": fresh(T5ForConditionalGeneration, T5Config, feed_forward_proj="gated-gelu", tie_word_embeddings=False),
        "tied": fresh(T5ForConditionalGeneration, T5Config, feed_forward_proj="relu"),
        "mt5": fresh(MT5ForConditionalGeneration, MT5Config),
        "umt5_resaved": UMT5ForConditionalGeneration.from_pretrained(T5 / "umt5_untied"),
        "bf16": T5ForConditionalGeneration.from_pretrained(T5 / "gated_silu", dtype=torch.bfloat16),
    }.items():
        folder = T5 / "by5" / name
        model.eval().save_pretrained(folder, **(dict(max_shard_size="2KB") if name == "bf16" else {}))
        (folder / "generation_config.json").unlink()
        model.float()
        with torch.no_grad():
            save_file(compute(model, batch["inputs"], batch["labels"]), folder / "golden.safetensors")
            if name not in ("umt5_resaved", "bf16"):
                out["results"][name + "/free/full"] = search(model, queries)
    (MODELS / "decode/testdata/beam_by5.json").write_text(json.dumps(out, separators=(",", ":")) + "\n")
    folder = MODELS / "bert/testdata/by5"
    model = fresh(BertModel, lambda **_: BertConfig(**SIZES)).eval()
    model.save_pretrained(folder)
    save_file(vectors(model, json.loads((folder.parent / "texts.json").read_text())), folder / "golden.safetensors")


main()
