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
from transformers import BertConfig, BertModel

from drawn import Numbers
from slices import arguments, pad, serve

SIZES = BertConfig(hidden_size=512, num_hidden_layers=8, num_attention_heads=8, intermediate_size=2048,
                   vocab_size=32128)


def main():
    args = arguments(__doc__).parse_args()
    if args.make:
        torch.manual_seed(1)
        BertModel(SIZES, add_pooling_layer=False).save_pretrained(args.folder)
        return
    model = BertModel.from_pretrained(args.folder, add_pooling_layer=False).eval()
    texts = list(itertools.islice(Numbers(5).texts(), 12))
    ids, mask = pad(texts, 0), pad([[1] * len(t) for t in texts], 0)

    @torch.no_grad()
    def embed():
        return model(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0]

    def run():
        embed()
        return len(texts)

    first = " ".join(f"{v:.3f}" for v in embed()[0, :4].tolist())
    serve(f"[{first}]", run, args.slices)


main()
