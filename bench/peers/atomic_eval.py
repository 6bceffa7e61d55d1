"""Ranking by atomic identifiers with T5 in transformers: the peer of the workload "atomic".

    pip install -r requirements-models.txt
    python atomic_eval.py FOLDER --make
    python atomic_eval.py FOLDER [--sliced] [--bf16] --slices 3

The weights are random, of T5 Efficient Tiny with one token more for each of 100,000
documents. 256 queries of 4 to 32 tokens in the order in which they come, 64 at a
time, padded to the longest of a batch; one decoder step, and the 40 best of the
documents' scores. --sliced computes the scores of documents alone. The check is of float32.
"""
import torch
from transformers import T5ForConditionalGeneration

from drawn import Numbers
from models import first_logits, make, masked, t5
from slices import arguments, serve

DOCUMENTS, BATCH = 100_000, 64


def main():
    parser = arguments(__doc__)
    parser.add_argument("--sliced", action="store_true")
    parser.add_argument("--bf16", action="store_true")
    args = parser.parse_args()
    if args.make:
        return make(args.folder, t5, "tiny", DOCUMENTS)
    model = T5ForConditionalGeneration.from_pretrained(args.folder).eval()
    first = model.config.vocab_size - DOCUMENTS
    queries = Numbers(3).sequences(256, 4, 32)

    @torch.no_grad()
    def rank(part):
        return first_logits(model, *masked(part), first).log_softmax(-1).topk(40)

    @torch.no_grad()
    def slice_head():
        model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight[first:].clone())

    def run():
        for i in range(0, len(queries), BATCH):
            rank(queries[i : i + BATCH])
        return len(queries)

    best = rank(queries[:BATCH]).indices
    if args.sliced:
        slice_head()
        first = 0
    if args.bf16:
        model.bfloat16()
    serve(f"{best[0, 0]} {best[1, 0]}", run, args.slices, how=["bf16" if args.bf16 else "float32"] + ["head of the documents alone"] * args.sliced)


main()
