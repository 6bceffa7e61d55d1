"""Goldens of internal/model/t5 from transformers 4.44.1 (models_requirements.txt).

Writes, for a tiny random v1.0 and a v1.1 model: the checkpoint as transformers
saves it, and what transformers computes from it: encoder states, logits, loss and
every parameter's gradient. Also the relative position buckets. Then the same, of smaller
models, for other feed-forward layers, mT5 and umT5, and one in bfloat16 in several files.

    python tools/golden/t5.py internal/model/t5/testdata
"""
import json
import pathlib
import sys

import torch
from safetensors.torch import save_file
from transformers import (MT5Config, MT5ForConditionalGeneration, T5Config, T5ForConditionalGeneration, UMT5Config,
                          UMT5ForConditionalGeneration)
from transformers.models.t5.modeling_t5 import T5Attention

from shared import mask, pad

OUT = pathlib.Path(sys.argv[1])
VARIANTS = {
    "v1_0": dict(feed_forward_proj="relu", tie_word_embeddings=True),
    "v1_1": dict(feed_forward_proj="gated-gelu", tie_word_embeddings=False),
}
SIZES = dict(vocab_size=100, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_decoder_layers=3, num_heads=3,
             relative_attention_num_buckets=8, relative_attention_max_distance=20, decoder_start_token_id=0)
SMALL = dict(SIZES, vocab_size=160, d_model=8, d_kv=4, d_ff=12, num_decoder_layers=2, num_heads=2)
OTHERS = {
    "gated_silu": (T5Config, T5ForConditionalGeneration, dict(feed_forward_proj="gated-silu", tie_word_embeddings=False)),
    "gelu": (T5Config, T5ForConditionalGeneration, dict(feed_forward_proj="gelu", tie_word_embeddings=True)),
    "mt5": (MT5Config, MT5ForConditionalGeneration, {}),
    "umt5": (UMT5Config, UMT5ForConditionalGeneration, {}),
    "umt5_untied": (UMT5Config, UMT5ForConditionalGeneration, dict(tie_word_embeddings=False)),
}


def batch():
    g = torch.Generator().manual_seed(5)
    draw = lambda n: torch.randint(2, 100, (n,), generator=g).tolist() + [1]
    return [draw(n) for n in (4, 36, 1, 11)], [draw(n) for n in (3, 1, 6, 2)]


def main():
    inputs, labels = batch()
    for name, options in VARIANTS.items():
        torch.manual_seed(11)
        model = T5ForConditionalGeneration(T5Config(**SIZES, **options)).eval()
        with torch.no_grad():  # norms of 1 and large q would hide mistakes
            for p in model.parameters():
                p.add_(torch.randn_like(p) * 0.05)
        folder = OUT / name
        folder.mkdir(parents=True, exist_ok=True)
        model.save_pretrained(folder)
        state = {k: v for k, v in model.state_dict().items()}
        torch.save(state, folder / "pytorch_model.bin")
        torch.save(state, folder / "pytorch_model_legacy.bin", _use_new_zipfile_serialization=False)
        save_file(compute(model, inputs, labels), folder / "golden.safetensors")
    for name, (config, kind, options) in OTHERS.items():
        torch.manual_seed(11)
        model = kind(config(**SMALL, **options)).eval()
        with torch.no_grad():
            for p in model.parameters():
                p.add_(torch.randn_like(p) * 0.05)
        folder = OUT / name
        model.save_pretrained(folder)
        (folder / "generation_config.json").unlink()
        save_file(compute(model, inputs, labels), folder / "golden.safetensors")
    half = T5ForConditionalGeneration.from_pretrained(OUT / "gated_silu").to(torch.bfloat16)
    half.save_pretrained(OUT / "sharded", max_shard_size="2KB")
    (OUT / "sharded/generation_config.json").unlink()
    half.save_pretrained(OUT / "sharded_bin", max_shard_size="5KB", safe_serialization=False)
    (OUT / "sharded_bin/generation_config.json").unlink()
    save_file(compute(half.to(torch.float32).eval(), inputs, labels, False), OUT / "sharded/golden.safetensors")
    (OUT / "batch.json").write_text(json.dumps({"inputs": inputs, "labels": labels}) + "\n")
    distances = torch.arange(-300, 301)
    tables = {}
    for buckets, most in ((32, 128), (8, 20), (64, 256)):
        for both in (True, False):
            b = T5Attention._relative_position_bucket(distances, bidirectional=both, num_buckets=buckets, max_distance=most)
            tables[f"{buckets} {most} {str(both).lower()}"] = b.tolist()
    (OUT / "buckets.json").write_text(json.dumps(tables) + "\n")


def compute(model, inputs, labels, gradients=True):
    """What transformers makes of the batch."""
    ids, target = pad(inputs, 0), pad(labels, -100)
    out = model(input_ids=ids, attention_mask=mask(inputs), labels=target)
    out.loss.backward()
    golden = {"loss": out.loss.detach().reshape(1)}
    golden["logits"] = torch.cat([out.logits[i, : len(r)] for i, r in enumerate(labels)]).detach()
    hidden = out.encoder_last_hidden_state
    golden["encoder"] = torch.cat([hidden[i, : len(r)] for i, r in enumerate(inputs)]).detach()
    for k, p in model.named_parameters():
        if gradients:
            golden["grad." + k] = p.grad
    return {k: v.contiguous() for k, v in golden.items()}


main()
