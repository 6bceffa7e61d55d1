"""Goldens of internal/bert from transformers 4.44.1 (bert_requirements.txt).

Writes a tiny random BERT as transformers saves it, and the last hidden states that
transformers computes for a padded batch, without the padding.

    python tools/golden/bert.py internal/bert/testdata
"""
import json
import pathlib
import sys

import torch
from safetensors.torch import save_file
from transformers import BertConfig, BertModel

OUT = pathlib.Path(sys.argv[1])


def main():
    torch.manual_seed(2)
    config = BertConfig(vocab_size=90, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
                        max_position_embeddings=24)
    model = BertModel(config).eval()
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.randn_like(p) * 0.1)
    OUT.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(OUT)
    # As the older checkpoints are: another name for the norms, a prefix, a pooler.
    old = {"bert." + k.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): v
           for k, v in model.state_dict().items()}
    torch.save(old, OUT / "pytorch_model_old.bin", _use_new_zipfile_serialization=False)
    g = torch.Generator().manual_seed(4)
    sequences = [[2] + torch.randint(5, 90, (n,), generator=g).tolist() + [3] for n in (5, 22, 1, 9)]
    most = max(map(len, sequences))
    ids = torch.tensor([s + [0] * (most - len(s)) for s in sequences])
    mask = torch.tensor([[1] * len(s) + [0] * (most - len(s)) for s in sequences])
    with torch.no_grad():
        hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
    cls = hidden[:, 0].contiguous()
    mean = (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
    states = torch.cat([hidden[i, : len(s)] for i, s in enumerate(sequences)])
    save_file({"states": states, "cls": cls, "mean": mean.contiguous()}, OUT / "golden.safetensors")
    (OUT / "sequences.json").write_text(json.dumps(sequences) + "\n")


main()
