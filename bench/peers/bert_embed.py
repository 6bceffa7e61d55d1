"""Embedding documents with BERT in transformers: the peer of the workload "bert".

    pip install -r requirements-models.txt
    python bert_embed.py FOLDER --make
    python bert_embed.py FOLDER --slices 3

The weights are random, of google/bert_uncased_L-8_H-512_A-8's sizes. One batch of 12
documents, padded to the longest: two thirds cut off at 512 tokens, the others of 100
to 512, which is about how long NQ's pages are. [CLS] of the last layer.
"""
import itertools

import torch
from transformers import BertModel

from drawn import Numbers
from models import bert, make, masked
from slices import arguments, serve


def main():
    args = arguments(__doc__).parse_args()
    if args.make:
        return make(args.folder, bert)
    model = BertModel.from_pretrained(args.folder, add_pooling_layer=False).eval()
    texts = list(itertools.islice(Numbers(5).texts(), 12))
    ids, mask = masked(texts)

    @torch.no_grad()
    def embed():
        return model(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0]

    def run():
        embed()
        return len(texts)

    first = " ".join(f"{v:.3f}" for v in embed()[0, :4].tolist())
    serve(f"[{first}]", run, args.slices)


main()
