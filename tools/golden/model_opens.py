"""Opens in transformers what redsi saved and exported, and compares logits; by 4.44.1 (bart_requirements.txt) and by 5.24.0
(transformers5_requirements.txt), whichever Python runs it.

What is saved of the models of internal/model/t5 and internal/model/bart, with the models that it was read from:

    REDSI_KEEP=/tmp/saved go test -run TestFilesRoundTrip ./internal/model/models
    python tools/golden/model_opens.py saved internal/model/t5/testdata /tmp/saved/t5    # and bart

What export_model writes of models that both versions made, trained for forty updates by model_opens.hcl. Both make BASES, the older
one first, and both open EXPORTS; the second one finds the other's logits in LOGITS:

    python tools/golden/model_opens.py make BASES
    redsi export --hub EXPORTS -f tools/golden/model_opens.hcl --var bases=BASES    # after: redsi run, with the same -f and --var
    python tools/golden/model_opens.py exports EXPORTS LOGITS

model_card.py asks the same folders by their cards, and compares the answers with redsi's.

Printed by both, with torch 2.11.0: of 21 exports loading info {}; by the second, tokens equal: True and 1e-05 at most of logits up to
34; and, by 5.24.0 of each T5 and mT5 with an output matrix of its own, that "both are present in the checkpoints with different
values, so we will NOT tie them", which no config.json can prevent. Neither said anything else.
"""
import json
import logging
import pathlib
import sys
import warnings

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import (AutoModelForSeq2SeqLM, AutoTokenizer, BartConfig, BartForConditionalGeneration, MT5Config,
                          MT5ForConditionalGeneration, T5Config, T5ForConditionalGeneration)

NEW = int(transformers.__version__.split(".")[0]) >= 5
SMALL = dict(d_model=64, d_kv=16, d_ff=96, num_layers=2, num_decoder_layers=2, num_heads=4, decoder_start_token_id=0)
BART = dict(vocab_size=600, d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
            encoder_ffn_dim=96, decoder_ffn_dim=96, max_position_embeddings=512)
said = []


class Said(logging.Handler):
    def emit(self, record):
        said.append(record.getMessage())


def make(bases):
    """Random models as this version writes them; 5 has no fresh T5 with an output matrix of its own, and reads the older one's."""
    torch.manual_seed(21)
    models = {
        "t5": T5ForConditionalGeneration(T5Config(vocab_size=32128, **SMALL)),
        "bart": BartForConditionalGeneration(BartConfig(**BART)),
    }
    if not NEW:
        models["t5_1_1"] = T5ForConditionalGeneration(T5Config(vocab_size=32128, feed_forward_proj="gated-gelu", tie_word_embeddings=False, **SMALL))
        models["mt5"] = MT5ForConditionalGeneration(MT5Config(vocab_size=32128, tie_word_embeddings=False, **SMALL))
    else:
        models["t5_1_1"] = T5ForConditionalGeneration.from_pretrained(bases / "by4/t5_1_1")
        models["mt5"] = MT5ForConditionalGeneration.from_pretrained(bases / "by4/mt5")
        models["t5_1_1_bf16"] = T5ForConditionalGeneration.from_pretrained(bases / "by4/t5_1_1", dtype=torch.bfloat16)
    for name, model in models.items():
        options = dict(max_shard_size="2MB") if name == "t5_1_1_bf16" else {}
        model.save_pretrained(bases / ("by5" if NEW else "by4") / name, **options)


def logits(folder, inputs, labels):
    model, info = AutoModelForSeq2SeqLM.from_pretrained(folder, output_loading_info=True)
    with torch.no_grad():
        out = [model.eval()(input_ids=torch.tensor([i]), labels=torch.tensor([t])).logits for i, t in zip(inputs, labels)]
    return model, {k: v for k, v in info.items() if v}, out


def saved(ours, kept):
    batch = json.loads((ours / "batch.json").read_text())
    for name in sorted(p.name for p in kept.iterdir()):
        (model, left, have), (_, _, want) = (logits(f / name, batch["inputs"], batch["labels"]) for f in (kept, ours))
        worst = max((a - b).abs().max().item() for a, b in zip(have, want))
        print(f"{name}: {type(model).__name__}, loading info {left}, max |diff| of logits {worst}")


def exports(folder, out):
    out.mkdir(parents=True, exist_ok=True)
    for one in sorted(p.parent for p in folder.glob("*/config.json")):
        said.clear()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tokenizer = AutoTokenizer.from_pretrained(one)
            rows = [json.loads(line)["tokens"] for line in (one / "identifiers.jsonl").read_text(encoding="utf-8").splitlines()[:4]]
            inputs = [tokenizer(text).input_ids for text in ("who sings does he love me with reba", "a", "Ärmelkanal 東京 141913", "")]
            model, left, have = logits(one, inputs, rows)
            with torch.no_grad():
                model.generate(torch.tensor(inputs[:1]))
        name = out / f"{one.name}.{transformers.__version__}.safetensors"
        save_file({**{f"{i}": t.contiguous() for i, t in enumerate(have)}, **{f"ids{i}": torch.tensor(t) for i, t in enumerate(inputs)}}, name)
        print(f"{one.name}: {type(model).__name__}, loading info {left}")
        for other in sorted(out.glob(f"{one.name}.*.safetensors")):
            if other != name:
                want = load_file(other)
                worst = max((a - want[f"{i}"]).abs().max().item() for i, a in enumerate(have))
                same = all(want[f"ids{i}"].tolist() == t for i, t in enumerate(inputs))
                print(f"  beside {other.name.split('.', 1)[1].removesuffix('.safetensors')}: max |diff| of logits {worst:.1g}, tokens equal: {same}")
        for text in said + [str(w.message) for w in caught]:
            print(f"  says: {text}")


if __name__ == "__main__":
    logging.getLogger("transformers").addHandler(Said(logging.WARNING))
    verb, *paths = sys.argv[1:]
    {"make": make, "saved": saved, "exports": exports}[verb](*map(pathlib.Path, paths))
