"""Beam search of T5 in transformers: the peer of the workload "beam".

    pip install -r requirements-models.txt
    python beam.py FOLDER --mode free|trie|vectorized --slices 3

FOLDER is what train_step.py makes. 40 beams, 40 returned, at most 6 new tokens, one
batch of 8 queries of 8 to 16 tokens padded to the longest; "trie" allows 100,000
identifiers of 3 tokens and </s> through prefix_allowed_tokens_fn, a dict per prefix, and
"vectorized" through a logits processor that walks arrays for all beams at once.
"""
import torch
from transformers import T5ForConditionalGeneration

from drawn import Numbers, Trie, allowed
from models import masked
from slices import arguments, serve


def main():
    parser = arguments(__doc__)
    parser.add_argument("--mode", choices=["free", "trie", "vectorized"], default="free")
    args = parser.parse_args()
    model = T5ForConditionalGeneration.from_pretrained(args.folder).eval()
    draw = Numbers(3)
    queries = draw.sequences(8, 8, 16)
    extra, how = {}, "float32"
    if args.mode == "trie":
        extra["prefix_allowed_tokens_fn"] = allowed(draw.identifiers(100_000))
        how += ", prefix_allowed_tokens_fn"
    if args.mode == "vectorized":
        extra["logits_processor"] = [Trie(draw.identifiers(100_000), model.config.vocab_size)]
        how += ", a vectorized logits processor"
    ids, mask = masked(queries)

    @torch.no_grad()
    def decode():
        return model.generate(ids, attention_mask=mask, num_beams=40, num_return_sequences=40, max_new_tokens=6, **extra)

    def run():
        decode()
        return len(queries)

    best = decode()[0].tolist()[1:]
    best = best[: best.index(1) + 1] if 1 in best else best  # what follows the end is padding, or more ends
    serve(f"[{' '.join(map(str, best))}]", run, args.slices, how=[how])


main()
