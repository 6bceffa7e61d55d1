"""Opens in transformers 4.44.1 what internal/model/t5 or internal/model/bart saved, and compares the logits with
those of the model that it was read from (models_requirements.txt, bart_requirements.txt).

    REDSI_KEEP=/tmp/saved go test -run TestFilesRoundTrip ./internal/model/t5
    python tools/golden/model_opens.py internal/model/t5/testdata /tmp/saved

Printed, with transformers 4.44.1 and torch 2.1.0; bart: torch 2.11.0:
v1_0: T5ForConditionalGeneration, loading info {}, max |diff| of logits 0.0
v1_1: T5ForConditionalGeneration, loading info {}, max |diff| of logits 0.0
scaled: BartForConditionalGeneration, loading info {}, max |diff| of logits 0.0
"""
import json
import pathlib
import sys

import torch
import transformers
from transformers import AutoModelForSeq2SeqLM

transformers.logging.set_verbosity_error()
ours, saved = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
batch = json.loads((ours / "batch.json").read_text())
for name in sorted(p.name for p in saved.iterdir()):
    logits = []
    for folder in (ours / name, saved / name):
        model, info = AutoModelForSeq2SeqLM.from_pretrained(folder, output_loading_info=True)
        left = {k: v for k, v in info.items() if v}
        with torch.no_grad():
            logits.append([model.eval()(input_ids=torch.tensor([i]), labels=torch.tensor([t])).logits
                           for i, t in zip(batch["inputs"], batch["labels"])])
    worst = max((a - b).abs().max().item() for a, b in zip(*logits))
    print(f"{name}: {type(model).__name__}, loading info {left}, max |diff| of logits {worst}")
