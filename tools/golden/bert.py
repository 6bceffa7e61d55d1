"""Goldens of internal/model/bert from transformers 4.44.1 (models_requirements.txt).

Writes a tiny random BERT as transformers saves it, and the last hidden states that
transformers computes for a padded batch, without the padding.

Then the same, smaller, for the other encoders, with the pad token written in a text.

    python tools/golden/bert.py internal/model/bert/testdata
"""
import json
import pathlib
import sys

import torch
from safetensors.torch import save_file
from transformers import (BertConfig, BertModel, DistilBertConfig, DistilBertModel, ElectraConfig, ElectraModel, MPNetConfig,
                          MPNetModel, RobertaConfig, RobertaForMaskedLM, XLMRobertaConfig, XLMRobertaModel)

SIZES = dict(vocab_size=200, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=12, max_position_embeddings=30)
OTHERS = {
    "roberta": (RobertaConfig, RobertaForMaskedLM, dict(SIZES, type_vocab_size=1, layer_norm_eps=1e-5)),  # names with "roberta."
    "xlm_roberta": (XLMRobertaConfig, XLMRobertaModel, dict(SIZES, type_vocab_size=1, pad_token_id=4)),
    "distilbert": (DistilBertConfig, DistilBertModel,
                   dict(vocab_size=200, dim=8, n_layers=2, n_heads=2, hidden_dim=12, max_position_embeddings=30)),
    "mpnet": (MPNetConfig, MPNetModel, SIZES),
    "electra": (ElectraConfig, ElectraModel, dict(SIZES, embedding_size=6, hidden_act="gelu_new")),
}


def main(OUT):
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
    save_file(compute(model, sequences), OUT / "golden.safetensors")
    (OUT / "sequences.json").write_text(json.dumps(sequences) + "\n")
    texts = [[0] + torch.randint(5, 60, (n,), generator=g).tolist() + [2] for n in (5, 22, 1, 9)]
    texts[1][7] = texts[1][8] = 1
    for name, (config, kind, sizes) in OTHERS.items():
        torch.manual_seed(2)
        model = kind(config(**sizes)).eval()
        with torch.no_grad():
            for p in model.parameters():
                p.add_(torch.randn_like(p) * 0.3)
        folder = OUT / name
        model.save_pretrained(folder)
        (folder / "generation_config.json").unlink(missing_ok=True)
        save_file(compute(getattr(model, "roberta", model), texts), folder / "golden.safetensors")
    (OUT / "texts.json").write_text(json.dumps(texts) + "\n")


def compute(model, sequences):
    """States, without the padding, and vectors."""
    most = max(map(len, sequences))
    ids = torch.tensor([s + [model.config.pad_token_id] * (most - len(s)) for s in sequences])
    mask = torch.tensor([[1] * len(s) + [0] * (most - len(s)) for s in sequences])
    with torch.no_grad():
        hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
    cls = hidden[:, 0].contiguous()
    mean = (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
    largest = torch.stack([hidden[i, : len(s)].max(0).values for i, s in enumerate(sequences)])
    states = torch.cat([hidden[i, : len(s)] for i, s in enumerate(sequences)])
    return {"states": states, "cls": cls, "mean": mean.contiguous(), "max": largest}


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
