"""One training step of T5 in transformers: the peer of the workload "train".

    pip install -r requirements-models.txt
    python train_step.py FOLDER --make
    python train_step.py FOLDER --lengths full|real [--autocast] [--compile CACHE] --slices 5

The weights are random, of T5 Efficient Tiny. The batch has 128 inputs; "full": 32
tokens each, labels of 8; "real": a quarter documents of 32 tokens, the others queries
of 8 to 16, labels of 4 to 8, padded to the longest of the batch. torch's Adafactor, which
takes all parameters of a shape at once, and dropout as in training; --autocast computes in bf16,
--compile is torch.compile for the one shape that there is: 80 s the first time, then 7 s with what CACHE has.
The check is the loss in float32 before the first step.
"""
import os

import torch
from transformers import T5ForConditionalGeneration

from drawn import batch
from models import make, masked, t5
from slices import arguments, pad, serve


def main():
    parser = arguments(__doc__)
    parser.add_argument("--lengths", choices=["full", "real"], default="full")
    parser.add_argument("--autocast", action="store_true")
    parser.add_argument("--compile", metavar="CACHE")
    args = parser.parse_args()
    if args.make:
        return make(args.folder, t5, "tiny")
    model = T5ForConditionalGeneration.from_pretrained(args.folder)
    optimizer = torch.optim.Adafactor(model.parameters(), lr=1e-3, foreach=True)
    inputs, labels = batch(args.lengths)
    (ids, mask), target = masked(inputs), pad(labels, -100)
    with torch.no_grad():
        check = f"loss {model(input_ids=ids, attention_mask=mask, labels=target).loss.item():.4f}"
    model.train()
    computed = model
    if args.compile:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = args.compile
        computed = torch.compile(model, dynamic=False)

    def step():
        with torch.autocast("cpu", torch.bfloat16, enabled=args.autocast):
            loss = computed(input_ids=ids, attention_mask=mask, labels=target).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return 1

    how = ["autocast bf16" if args.autocast else "float32", "torch's Adafactor"] + ["torch.compile"] * bool(args.compile)
    serve(check, step, args.slices, how=how)


main()
