"""Probabilities of sampled tokens as transformers 4.44.1 makes them of logits.

Writes internal/model/decode/testdata/sampling.json: rows of logits, some with equal ones, and
for each setting of temperature, top_k and top_p the tokens that may be drawn with their
probabilities, by the logits processors in the order in which generate() applies them.

    pip install -r tools/golden/beam_requirements.txt
    python tools/golden/sampling.py
"""

import json
import os

import torch
from transformers.generation.logits_process import LogitsProcessorList, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

OUT = os.path.join(os.path.dirname(__file__), "../../internal/model/decode/testdata/sampling.json")


def main():
    torch.manual_seed(5)
    logits = torch.randn(4, 60) * torch.tensor([[0.3], [1.0], [3.0], [1.0]])
    logits[3] = logits[3].mul(2).round().div(2)  # many equal ones
    settings = [
        (t, k, p)
        for t in (1.0, 0.7, 2.0)
        for k, p in ((10, 1.0), (1, 1.0), (0, 0.9), (0, 0.3), (10, 0.8), (0, 1.0), (60, 0.95), (100, 1.0))
    ]
    results = []
    for temperature, top_k, top_p in settings:
        processors = LogitsProcessorList()
        if temperature != 1.0:
            processors.append(TemperatureLogitsWarper(temperature))
        if top_k:
            processors.append(TopKLogitsWarper(top_k))
        if top_p < 1.0:
            processors.append(TopPLogitsWarper(top_p))
        p = processors(None, logits.clone()).softmax(-1)
        rows = [{str(i): float(f"{v:.9g}") for i, v in enumerate(row.tolist()) if v > 0} for row in p]
        results.append(dict(temperature=temperature, top_k=top_k, top_p=top_p, rows=rows))
    with open(OUT, "w") as f:
        json.dump(dict(logits=[[float(f"{v:.9g}") for v in row] for row in logits.tolist()], results=results), f, separators=(",", ":"))
        f.write("\n")


main()
