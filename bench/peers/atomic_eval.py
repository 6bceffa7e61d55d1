"""Ranking by atomic identifiers with T5 in transformers: the peer of BenchmarkAtomic.

    pip install -r requirements-models.txt
    python atomic_eval.py MODEL_FOLDER [--documents 100000] [--queries 256] [--batch 64] [--threads 2] [--rounds 2]

MODEL_FOLDER is what train_step.py makes; its vocabulary is extended by one token per
document. Queries of 4 to 32 tokens in the order in which they come, padded to the
longest of a batch; one decoder step, and the 40 best of the documents' scores.
Prints one JSON line: seconds, queries ranked in them, peak memory.
"""
import argparse
import json
import resource
import time

import torch
from transformers import T5ForConditionalGeneration

from beam import Numbers, pad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=256)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    model = T5ForConditionalGeneration.from_pretrained(args.folder).eval()
    first = model.config.vocab_size
    model.resize_token_embeddings(first + args.documents)
    queries = Numbers(3).sequences(args.queries, 4, 32)

    def rank(part):
        ids, mask = pad(part, 0), pad([[1] * len(q) for q in part], 0)
        start = torch.zeros(len(part), 1, dtype=torch.long)
        logits = model(input_ids=ids, attention_mask=mask, decoder_input_ids=start).logits[:, 0, first:]
        return logits.log_softmax(-1).topk(40)

    with torch.no_grad():
        rank(queries[: args.batch])
        began, work = time.perf_counter(), 0
        for _ in range(args.rounds):
            for i in range(0, len(queries), args.batch):
                rank(queries[i : i + args.batch])
            work += len(queries)
        seconds = time.perf_counter() - began
    print(json.dumps({"seconds": seconds, "work": work, "bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))


if __name__ == "__main__":
    main()
