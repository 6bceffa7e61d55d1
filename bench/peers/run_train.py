"""A small training as one would write it with transformers: the peer of "run-train".

    pip install -r requirements-models.txt
    python run_train.py FOLDER

FOLDER has what redsi's training reads, as its own steps left it: a corpus in BEIR's form, and a
T5 model with random weights. Documents and questions lead to the
document's number; batches of 128, padded to the longest; torch's Adafactor, constant rate, autocast in bf16; one evaluation of
the development questions with 40 beams at the end. Threads are torch's own choice.
"""
import csv
import gzip
import json
import pathlib
import random
import sys
import tempfile

import torch
from transformers import PreTrainedTokenizerFast, T5ForConditionalGeneration

UPDATES, BATCH, LONGEST = 15, 128, 32


def rows(path):
    with open(path, encoding="utf-8") as f:
        for line in f:
            yield json.loads(line)


def relevant(path):
    with open(path, encoding="utf-8") as f:
        for row in csv.DictReader(f, delimiter="\t"):
            yield row["query-id"], row["corpus-id"]


def main():
    folder = pathlib.Path(sys.argv[1])
    with tempfile.NamedTemporaryFile(suffix=".json") as f:
        f.write(gzip.open(pathlib.Path("assets/tokenizers/t5-tokenizer.json.gz")).read())
        f.flush()
        tokenizer = PreTrainedTokenizerFast(tokenizer_file=f.name, pad_token="<pad>", eos_token="</s>")
    queries = {q["_id"]: q["text"].lower() for q in rows(folder / "queries.jsonl")}
    texts = {d["_id"]: d["text"] for d in rows(folder / "corpus.jsonl")}
    train = list(relevant(folder / "train.tsv"))
    dev = list(relevant(folder / "dev.tsv"))
    examples = [(texts[d], d) for d in texts] + [(queries[q], d) for q, d in train]

    torch.manual_seed(42)
    random.seed(42)
    model = T5ForConditionalGeneration.from_pretrained(folder)
    optimizer = torch.optim.Adafactor(model.parameters(), lr=1e-3, foreach=True)
    model.train()
    order = []
    for _ in range(UPDATES):
        if len(order) < BATCH:
            order += random.sample(examples, len(examples))
        batch, order = order[:BATCH], order[BATCH:]
        inputs = tokenizer([x for x, _ in batch], max_length=LONGEST, truncation=True, padding=True, return_tensors="pt")
        labels = tokenizer([y for _, y in batch], padding=True, return_tensors="pt").input_ids
        labels[labels == tokenizer.pad_token_id] = -100
        with torch.autocast("cpu", torch.bfloat16):
            loss = model(input_ids=inputs.input_ids, attention_mask=inputs.attention_mask, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    model.eval()
    found = 0
    with torch.no_grad():
        for i in range(0, len(dev), 8):
            batch = dev[i:i + 8]
            inputs = tokenizer([queries[q] for q, _ in batch], max_length=LONGEST, truncation=True, padding=True, return_tensors="pt")
            out = model.generate(input_ids=inputs.input_ids, attention_mask=inputs.attention_mask, num_beams=40,
                                 num_return_sequences=40, max_new_tokens=8)
            told = tokenizer.batch_decode(out, skip_special_tokens=True)
            for k, (_, d) in enumerate(batch):
                found += d in told[40 * k:40 * k + 10]
    print(f"loss {loss.item():.4f}, {found} of {len(dev)} within 10; {torch.get_num_threads()} threads")


main()
