"""Goldens of internal/model/bart from transformers 4.44.1 (bart_requirements.txt).

Writes, for tiny random models: the checkpoint as transformers saves it, what
transformers computes from it (encoder states, logits, loss and every parameter's
gradient), and the parameters after two steps with Adafactor. Then beam searches of
generate(), free and with prefix_allowed_tokens_fn over random identifiers, and the first
step's order of a token range. scaled has scale_embedding, other sizes of encoder and
decoder and a forced first token; both force </s> at the end.

    pip install -r tools/golden/bart_requirements.txt
    python tools/golden/bart.py internal/model/bart/testdata
"""
import json
import pathlib
import random
import sys

import torch
from safetensors.torch import save_file
from transformers import BartConfig, BartForConditionalGeneration
from transformers.optimization import Adafactor

from shared import allowed, mask, pad

OUT = pathlib.Path(sys.argv[1])
SIZES = dict(vocab_size=100, d_model=24, encoder_layers=2, decoder_layers=3, encoder_attention_heads=3,
             decoder_attention_heads=3, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=64)
VARIANTS = {
    "plain": dict(),
    "scaled": dict(scale_embedding=True, decoder_ffn_dim=40, forced_bos_token_id=0),
}


def batch():
    g = torch.Generator().manual_seed(5)
    draw = lambda n: [0] + torch.randint(4, 100, (n,), generator=g).tolist() + [2]
    return [draw(n) for n in (4, 36, 1, 11)], [draw(n) for n in (3, 1, 6, 2)]


def step(model, optimizer, inputs, labels):
    """One forward and backward pass; the optimizer's step where there is one."""
    out = model(input_ids=pad(inputs, 1), attention_mask=mask(inputs), labels=pad(labels, -100))
    model.zero_grad()
    out.loss.backward()
    if optimizer:
        optimizer.step()
    return out


def forward(name, options, inputs, labels):
    torch.manual_seed(11)
    model = BartForConditionalGeneration(BartConfig(**{**SIZES, **options})).eval()
    with torch.no_grad():  # biases of 0 and norms of 1 would hide mistakes
        for p in model.parameters():
            p.add_(torch.randn_like(p) * 0.2)
    folder = OUT / name
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    out = step(model, None, inputs, labels)
    golden = {"loss": out.loss.detach().reshape(1)}
    golden["logits"] = torch.cat([out.logits[i, : len(r)] for i, r in enumerate(labels)]).detach()
    hidden = out.encoder_last_hidden_state
    golden["encoder"] = torch.cat([hidden[i, : len(r)] for i, r in enumerate(inputs)]).detach()
    for k, p in model.named_parameters():
        golden["grad." + k] = p.grad
    optimizer = Adafactor(model.parameters(), lr=1e-2, eps=(1e-30, 1e-3), clip_threshold=1.0, decay_rate=-0.8,
                          beta1=None, weight_decay=0.0, relative_step=False, scale_parameter=False, warmup_init=False)
    for _ in range(2):
        step(model, optimizer, inputs, labels)
    golden.update({f"after.{k}": p.detach() for k, p in model.named_parameters()})
    save_file({k: v.contiguous().clone() for k, v in golden.items()}, folder / "golden.safetensors")


def searches(model, name, queries, identifiers, results):
    ids = pad(queries, 1)
    for mode in ("free", "trie"):
        extra = {}
        if mode == "trie":
            # A trie says what may follow; nothing is forced beside it.
            extra = dict(forced_bos_token_id=None, forced_eos_token_id=None,
                         prefix_allowed_tokens_fn=allowed(identifiers, 2))
            model.generation_config.forced_bos_token_id = model.generation_config.forced_eos_token_id = None
        g = model.generate(ids, attention_mask=mask(queries), num_beams=40, num_return_sequences=40, max_new_tokens=6,
                           length_penalty=1.0, early_stopping=False, return_dict_in_generate=True, output_scores=True, **extra)
        rows = []
        for i, seq in enumerate(g.sequences.tolist()):
            seq = seq[1:]
            seq = seq[: seq.index(2) + 1] if 2 in seq else seq
            rows.append(dict(tokens=seq, score=round(g.sequences_scores[i].item(), 6)))
        results[f"{name}/{mode}"] = [rows[i : i + 40] for i in range(0, len(rows), 40)]
    with torch.no_grad():
        start = torch.full((len(queries), 1), 2)
        logits = model(input_ids=ids, attention_mask=mask(queries), decoder_input_ids=start).logits[:, 0, 30:]
    best = logits.log_softmax(-1).topk(10)
    results[f"{name}/atomic"] = [[dict(tokens=[t], score=round(s, 6)) for t, s in zip(ts, ss)]
                                 for ts, ss in zip(best.indices.tolist(), best.values.tolist())]


def main():
    inputs, labels = batch()
    r = random.Random(7)
    queries = [[0] + [r.randrange(4, 100) for _ in range(n)] + [2] for n in (5, 1, 17, 40, 9)]
    identifiers = sorted({tuple(r.randrange(4, 40) for _ in range(r.randrange(1, 4))) for _ in range(1500)})
    identifiers = [[0] + list(s) + [2] for s in identifiers]
    results = {}
    for name, options in VARIANTS.items():
        forward(name, options, inputs, labels)
        model = BartForConditionalGeneration.from_pretrained(OUT / name).eval()
        searches(model, name, queries, identifiers, results)
    (OUT / "batch.json").write_text(json.dumps({"inputs": inputs, "labels": labels}) + "\n")
    beams = dict(queries=queries, identifiers=identifiers, results=results)
    (OUT / "beam.json").write_text(json.dumps(beams, separators=(",", ":")) + "\n")


main()
