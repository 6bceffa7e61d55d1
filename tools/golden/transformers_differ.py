"""Where transformers 4.44.1 and 5.24.0 differ: what the table of docs/models.md says (bart_requirements.txt and
transformers5_requirements.txt). Run by the one, then by the other, which prints what is not the same:

    python tools/golden/transformers_differ.py FOLDER

FOLDER is made by the first run, 4.44.1's: two random T5s of 64 tokens, width 64. Printed by 5.24.0, with torch 2.11.0,
beside searches of which 0 hypotheses differ, all with "never" among them:
3 beams, False, free, the end likely: 3 of 12 hypotheses differ from 4.44.1's
3 beams, False, free, the end likely, 3 tokens at most: 3 of 12 hypotheses differ from 4.44.1's
3 beams, True, along a trie: 1 of 12 hypotheses differ from 4.44.1's
10 beams, False, free, the end likely: 36 of 40 hypotheses differ from 4.44.1's
10 beams, False, free, the end likely, 3 tokens at most: 33 of 40 hypotheses differ from 4.44.1's
10 beams, True, along a trie: 22 of 40 hypotheses differ from 4.44.1's
40 beams, True, free, the end likely, 3 tokens at most: 68 of 160 hypotheses differ from 4.44.1's
40 beams, True, along a trie: 114 of 160 hypotheses differ from 4.44.1's
ids after the end, beams: [1], 4.44.1: [0]
ids without a length given: 21, 4.44.1: 20
after a resize: matrix of its own kept: False, 4.44.1: True
after a resize: logits moved by: 54.2, 4.44.1: 0.0
new rows: deviation above 0.5: False, 4.44.1: True
a bfloat16 folder opens as: torch.bfloat16, 4.44.1: torch.float32
"""
import json
import logging
import pathlib
import sys

import torch
import transformers
from transformers import LogitsProcessor, LogitsProcessorList, T5Config, T5ForConditionalGeneration

from shared import allowed, mask, pad

logging.getLogger("transformers").setLevel(logging.ERROR)
NEW = int(transformers.__version__.split(".")[0]) >= 5
SIZES = dict(vocab_size=64, d_model=64, d_kv=16, d_ff=96, num_layers=2, num_decoder_layers=2, num_heads=4, decoder_start_token_id=0)


class Likely(LogitsProcessor):
    """Makes the end likely, before anything is masked."""

    def __call__(self, ids, scores):
        scores[:, 1] += 5
        return scores.log_softmax(-1)


def search(model, beams, stopping, along, queries, tokens=12):
    extra = dict(prefix_allowed_tokens_fn=allowed(along, 1)) if along else dict(logits_processor=LogitsProcessorList([Likely()]))
    g = model.generate(pad(queries, 0), attention_mask=mask(queries), num_beams=beams, num_return_sequences=beams, max_new_tokens=tokens,
                       early_stopping=stopping, length_penalty=1.0, return_dict_in_generate=True, output_scores=True, **extra)
    return [[row[1:][: row[1:].index(1) + 1] if 1 in row[1:] else row[1:], round(s, 4)] for row, s in zip(g.sequences.tolist(), g.sequences_scores.tolist())]


@torch.no_grad()
def facts(folder):
    model = T5ForConditionalGeneration.from_pretrained(folder / "tied").eval()
    draw = torch.Generator().manual_seed(3)
    numbers = lambda n: torch.randint(2, 64, (n,), generator=draw).tolist()
    queries = [numbers(n) + [1] for n in (5, 9, 3, 12)]
    along = [list(i) + [1] for i in sorted({tuple(numbers(1 + i % 8)) for i in range(120)})]
    out = {}
    for beams in 3, 10, 40:
        for stopping in False, True, "never":
            out[f"{beams} beams, {stopping}, free, the end likely"] = search(model, beams, stopping, None, queries)
            out[f"{beams} beams, {stopping}, free, the end likely, 3 tokens at most"] = search(model, beams, stopping, None, queries, 3)
            out[f"{beams} beams, {stopping}, along a trie"] = search(model, beams, stopping, along, queries)
    out["ids after the end, beams"] = sorted({t for row in model.generate(pad(queries, 0), num_beams=4, num_return_sequences=4, max_new_tokens=9, logits_processor=LogitsProcessorList([Likely()])).tolist() if 1 in row for t in row[row.index(1) + 1:]})
    out["ids without a length given"] = model.generate(pad(queries, 0), suppress_tokens=[1]).shape[1]
    own = T5ForConditionalGeneration.from_pretrained(folder / "own").eval()
    state = lambda: own(input_ids=pad(queries, 0), labels=pad(queries, -100)).logits[:, :, :64]
    before = state()
    torch.manual_seed(1)
    own.resize_token_embeddings(70)
    out["after a resize: matrix of its own kept"] = own.lm_head.weight is not own.shared.weight
    out["after a resize: logits moved by"] = round((state() - before).abs().max().item(), 1)
    out["new rows: deviation above 0.5"] = own.shared.weight[64:].std().item() > 0.5
    own.to(torch.bfloat16).save_pretrained(folder / "half")
    out["a bfloat16 folder opens as"] = str(T5ForConditionalGeneration.from_pretrained(folder / "half").dtype)
    return out


def main(folder):
    if not NEW:
        torch.manual_seed(5)
        T5ForConditionalGeneration(T5Config(**SIZES)).save_pretrained(folder / "tied")
        T5ForConditionalGeneration(T5Config(**SIZES, feed_forward_proj="gated-gelu", tie_word_embeddings=False)).save_pretrained(folder / "own")
    found = facts(folder)
    (folder / f"{transformers.__version__}.json").write_text(json.dumps(found))
    for other in sorted(folder.glob("*.json")):
        if other.stem == transformers.__version__:
            continue
        for name, was in json.loads(other.read_text()).items():
            if isinstance(was, list) and was and isinstance(was[0], list):
                apart = sum(a[0] != b[0] or abs(a[1] - b[1]) > 1e-3 for a, b in zip(was, found[name]))
                print(f"{name}: {apart} of {len(was)} hypotheses differ from {other.stem}'s")
            else:
                print(f"{name}: {found[name]}, {other.stem}: {was}")


main(pathlib.Path(sys.argv[1]))
