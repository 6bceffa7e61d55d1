"""Ranking by atomic identifiers with T5 in transformers: the peer of the workload "atomic".

    pip install -r requirements-models.txt
    python atomic_eval.py FOLDER --make
    python atomic_eval.py FOLDER --slices 3

The weights are random, of T5 Efficient Tiny with one token more for each of 100,000
documents. 256 queries of 4 to 32 tokens in the order in which they come, 64 at a
time, padded to the longest of a batch; one decoder step, and the 40 best of the
documents' scores.
"""
import torch
from transformers import T5Config, T5ForConditionalGeneration

from drawn import Numbers
from slices import arguments, pad, serve

DOCUMENTS, BATCH = 100_000, 64
TINY = T5Config(d_model=256, d_ff=1024, num_layers=4, num_decoder_layers=4, num_heads=4, d_kv=64,
                vocab_size=32128 + DOCUMENTS, decoder_start_token_id=0)


def main():
    args = arguments(__doc__).parse_args()
    if args.make:
        torch.manual_seed(1)
        T5ForConditionalGeneration(TINY).save_pretrained(args.folder)
        return
    model = T5ForConditionalGeneration.from_pretrained(args.folder).eval()
    first = model.config.vocab_size - DOCUMENTS
    queries = Numbers(3).sequences(256, 4, 32)

    @torch.no_grad()
    def rank(part):
        ids, mask = pad(part, 0), pad([[1] * len(q) for q in part], 0)
        start = torch.zeros(len(part), 1, dtype=torch.long)
        logits = model(input_ids=ids, attention_mask=mask, decoder_input_ids=start).logits[:, 0, first:]
        return logits.log_softmax(-1).topk(40)

    def run():
        for i in range(0, len(queries), BATCH):
            rank(queries[i : i + BATCH])
        return len(queries)

    best = rank(queries[:BATCH]).indices
    serve(f"{best[0, 0]} {best[1, 0]}", run, args.slices)


main()
