"""One training step of T5 in transformers: the peer of the workload "train".

    pip install -r requirements-models.txt
    python train_step.py FOLDER --make
    python train_step.py FOLDER --lengths full|real --slices 5

The weights are random, of T5 Efficient Tiny. The batch has 128 inputs; "full": 32
tokens each, labels of 8; "real": a quarter documents of 32 tokens, the others queries
of 8 to 16, labels of 4 to 8, padded to the longest of the batch. Adafactor and
dropout as in training.
"""
import torch
from transformers import T5ForConditionalGeneration
from transformers.optimization import Adafactor

from drawn import batch
from models import make, masked, t5
from slices import arguments, pad, serve


def main():
    parser = arguments(__doc__)
    parser.add_argument("--lengths", choices=["full", "real"], default="full")
    args = parser.parse_args()
    if args.make:
        return make(args.folder, t5, "tiny")
    model = T5ForConditionalGeneration.from_pretrained(args.folder)
    optimizer = Adafactor(model.parameters(), lr=1e-3, scale_parameter=False, relative_step=False, warmup_init=False)
    inputs, labels = batch(args.lengths)
    (ids, mask), target = masked(inputs), pad(labels, -100)
    with torch.no_grad():
        check = f"loss {model(input_ids=ids, attention_mask=mask, labels=target).loss.item():.4f}"
    model.train()

    def step():
        model(input_ids=ids, attention_mask=mask, labels=target).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return 1

    serve(check, step, args.slices)


main()
