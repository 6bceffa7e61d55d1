"""Beam search of T5 in transformers: the peer of internal/decode's BenchmarkBeam.

    pip install -r requirements-models.txt
    python beam.py MODEL_FOLDER [--mode free|trie] [--queries 16] [--batch 8] [--threads 2] [--rounds 2]

MODEL_FOLDER is what train_step.py makes: T5 Efficient Tiny with random weights. 40
beams, 40 returned, at most 6 new tokens, queries of 8 to 16 tokens padded to the
longest of a batch; "trie" allows 100,000 identifiers of 3 tokens and </s> through
prefix_allowed_tokens_fn, a dict per prefix. Prints one JSON line: seconds, queries
decoded in them, the first query's best score as a check, peak memory.
"""
import argparse
import json
import resource
import time

import torch
from transformers import T5ForConditionalGeneration


class Numbers:
    """The same numbers as the Go side draws."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n

    def sequences(self, n, low, high):
        return [[2 + self.below(32000) for _ in range(low + self.below(high - low + 1))] for _ in range(n)]


def pad(rows, value):
    most = max(map(len, rows))
    return torch.tensor([r + [value] * (most - len(r)) for r in rows])


def prefixes(draw, count):
    """The nested dicts of count different identifiers."""
    root, made = {}, 0
    while made < count:
        node, new = root, False
        for token in [2 + draw.below(1100) for _ in range(3)] + [1]:
            new = token not in node
            node = node.setdefault(token, {})
        made += new
    return root


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--mode", choices=["free", "trie"], default="free")
    parser.add_argument("--queries", type=int, default=16)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    model = T5ForConditionalGeneration.from_pretrained(args.folder).eval()
    draw = Numbers(3)
    queries = draw.sequences(args.queries, 8, 16)
    extra = {}
    if args.mode == "trie":
        root = prefixes(draw, 100_000)

        def allowed(_, ids):
            node = root
            for token in ids.tolist()[1:]:
                node = node.get(token)
                if node is None:
                    return [1]
            return list(node) or [1]

        extra["prefix_allowed_tokens_fn"] = allowed

    def decode(part):
        return model.generate(
            pad(part, 0), attention_mask=pad([[1] * len(q) for q in part], 0), num_beams=40, num_return_sequences=40,
            max_new_tokens=6, return_dict_in_generate=True, output_scores=False, **extra)

    with torch.no_grad():
        first = decode(queries[:1]).sequences[0].tolist()
        decode(queries[: args.batch])
        began, work = time.perf_counter(), 0
        for _ in range(args.rounds):
            for i in range(0, len(queries), args.batch):
                decode(queries[i : i + args.batch])
            work += len(queries)
        seconds = time.perf_counter() - began
    print(json.dumps({"seconds": seconds, "work": work, "check": str(first[1:]),
                      "bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))


if __name__ == "__main__":
    main()
