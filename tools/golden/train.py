"""Goldens of training from torch and transformers 4.44.1 (train_requirements.txt).

A tiny random T5 v1.1 is trained for 20 updates, once for each schedule of transformers,
with torch.optim.AdamW and the parameters that transformers' Trainer lets decay, with
clip_grad_norm_ and CrossEntropyLoss(label_smoothing=...). Each update's examples are
cut into three parts whose losses are weighted by their labels, as one batch would be.
Written are the model before, and for each schedule the model after, each update's rate
and loss and the norm that was clipped.

    python tools/golden/train.py internal/model/train/fit/testdata/trajectory
"""
import json
import pathlib
import sys

import torch
from safetensors.torch import save_file
from transformers import T5Config, T5ForConditionalGeneration, Trainer, optimization

from shared import mask, pad

OUT = pathlib.Path(sys.argv[1])
STEPS, WARMUP, RATE, CLIP, SMOOTHING, PARTS = 20, 4, 1e-3, 0.5, 0.1, 3
ADAMW = dict(betas=(0.9, 0.99), eps=1e-6, weight_decay=0.1)
SIZES = dict(vocab_size=60, d_model=16, d_kv=8, d_ff=24, num_layers=1, num_decoder_layers=1, num_heads=2,
             relative_attention_num_buckets=8, relative_attention_max_distance=20, decoder_start_token_id=0,
             feed_forward_proj="gated-gelu", tie_word_embeddings=False, dropout_rate=0.0)
SCHEDULES = {
    "constant": lambda o: optimization.get_constant_schedule_with_warmup(o, WARMUP),
    "linear": lambda o: optimization.get_linear_schedule_with_warmup(o, WARMUP, STEPS),
    "cosine": lambda o: optimization.get_cosine_schedule_with_warmup(o, WARMUP, STEPS),
    "inverse_sqrt": lambda o: optimization.get_inverse_sqrt_schedule(o, WARMUP),
}


def batches():
    g = torch.Generator().manual_seed(5)
    draw = lambda low, high: torch.randint(2, 60, (int(torch.randint(low, high, (1,), generator=g)),), generator=g).tolist() + [1]
    return [dict(inputs=[draw(2, 9) for _ in range(5)], labels=[draw(1, 5) for _ in range(5)]) for _ in range(STEPS)]


def parts(batch):
    n = len(batch["inputs"])
    for k in range(PARTS):
        a, b = n * k // PARTS, n * (k + 1) // PARTS
        yield batch["inputs"][a:b], batch["labels"][a:b]


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    data = batches()
    golden = dict(steps=STEPS, warmup=WARMUP, rate=RATE, clip_norm=CLIP, label_smoothing=SMOOTHING, parts=PARTS,
                  beta1=0.9, beta2=0.99, eps=1e-6, weight_decay=0.1, batches=data, runs={})
    for name, schedule in SCHEDULES.items():
        torch.manual_seed(11)
        model = T5ForConditionalGeneration(T5Config(**SIZES)).train()
        with torch.no_grad():  # norms of 1 would hide mistakes
            for p in model.parameters():
                p.add_(torch.randn_like(p) * 0.05)
        if name == "constant":
            model.save_pretrained(OUT / "start")
            (OUT / "start" / "generation_config.json").unlink()
        decay = Trainer.get_decay_parameter_names(None, model)
        optimizer = torch.optim.AdamW([
            dict(params=[p for n, p in model.named_parameters() if n in decay]),
            dict(params=[p for n, p in model.named_parameters() if n not in decay], weight_decay=0.0)], lr=RATE, **ADAMW)
        rates = schedule(optimizer)
        loss_of = torch.nn.CrossEntropyLoss(ignore_index=-100, label_smoothing=SMOOTHING)
        run = dict(rates=[], losses=[], norms=[])
        for batch in data:
            labels = sum(map(len, batch["labels"]))
            total = 0.0
            for inputs, targets in parts(batch):
                target = pad(targets, -100)
                out = model(input_ids=pad(inputs, 0), attention_mask=mask(inputs), labels=target)
                loss = loss_of(out.logits.view(-1, out.logits.size(-1)), target.view(-1))
                loss = loss * (sum(map(len, targets)) / labels)
                loss.backward()
                total += loss.item()
            run["rates"].append(optimizer.param_groups[0]["lr"])
            run["losses"].append(total)
            run["norms"].append(torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP).item())
            optimizer.step()
            rates.step()
            optimizer.zero_grad()
        golden["runs"][name] = run
        state = {n: p.detach().clone() for n, p in model.named_parameters()}
        save_file(state, OUT / f"{name}.safetensors")
    golden["decays"] = sorted(decay)
    golden["parameters"] = sorted(n for n, _ in model.named_parameters())
    (OUT / "golden.json").write_text(json.dumps(golden, indent=None, separators=(",", ":")) + "\n")


main()
