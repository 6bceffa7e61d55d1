"""One training step of T5 in transformers: the peer of internal/t5's BenchmarkTrainStep.

    pip install -r requirements-models.txt
    python train_step.py MODEL_FOLDER [--lengths full|real] [--threads 2] [--steps 5] [--dropout 0.1]

Makes MODEL_FOLDER with random weights of T5 Efficient Tiny if it does not exist, so
that both sides train the same model (REDSI_BENCH_MODEL=MODEL_FOLDER go test -bench
TrainStep ./internal/t5). The batch has 128 inputs; "full": 32 tokens each, labels of
8; "real": a quarter documents of 32 tokens, the others queries of 8 to 16, labels of
4 to 8, padded to the longest of the batch. Adafactor as in training. Prints one JSON
line: the fastest and the median step in seconds, the first step's loss, peak memory.
"""
import argparse
import json
import pathlib
import resource
import statistics
import time

import torch
from transformers import T5Config, T5ForConditionalGeneration
from transformers.optimization import Adafactor

TINY = T5Config(d_model=256, d_ff=1024, num_layers=4, num_decoder_layers=4, num_heads=4, d_kv=64, vocab_size=32128,
                decoder_start_token_id=0)


class Numbers:
    """The same numbers as the Go side draws."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n

    def sequences(self, n, low, high):
        return [[2 + self.below(32000) for _ in range(low + self.below(high - low + 1))] for _ in range(n)]


def batch(lengths):
    draw = Numbers(1)
    if lengths == "full":
        return draw.sequences(128, 32, 32), draw.sequences(128, 8, 8)
    inputs = draw.sequences(32, 32, 32) + draw.sequences(96, 8, 16)
    return inputs, draw.sequences(128, 4, 8)


def pad(rows, value):
    most = max(map(len, rows))
    return torch.tensor([r + [value] * (most - len(r)) for r in rows])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--lengths", choices=["full", "real"], default="full")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--dropout", type=float, default=0.1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    if not args.folder.exists():
        torch.manual_seed(1)
        T5ForConditionalGeneration(TINY).save_pretrained(args.folder)
    model = T5ForConditionalGeneration.from_pretrained(args.folder, dropout_rate=args.dropout).train()
    optimizer = Adafactor(model.parameters(), lr=1e-3, scale_parameter=False, relative_step=False, warmup_init=False)
    inputs, labels = batch(args.lengths)
    ids, mask, target = pad(inputs, 0), pad([[1] * len(r) for r in inputs], 0), pad(labels, -100)
    model.eval()
    with torch.no_grad():
        check = f"loss {model(input_ids=ids, attention_mask=mask, labels=target).loss.item():.4f}"
    model.train()
    times, first, cpu = [], None, []
    for _ in range(args.steps + 1):
        start, before = time.perf_counter(), time.process_time()
        loss = model(input_ids=ids, attention_mask=mask, labels=target).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        first = loss.item() if first is None else first
        times.append(time.perf_counter() - start)
        cpu.append(time.process_time() - before)
    times, cpu = times[1:], cpu[1:]
    print(json.dumps({"seconds": sum(times), "work": len(times), "check": check, "torch": torch.__version__, "lengths": args.lengths, "dropout": args.dropout, "best_s": min(times),
                      "median_s": statistics.median(times), "cpu_s": min(cpu), "loss": first,
                      "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


main()
