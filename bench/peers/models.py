"""The models of the peers of package models, with random weights, and batches of them."""
import torch
from transformers import BertConfig, BertModel, T5Config, T5ForConditionalGeneration

from slices import pad

SIZES = {"tiny": (256, 1024, 4, 4), "small": (512, 2048, 6, 8), "base": (768, 3072, 12, 12), "quick": (64, 128, 2, 2)}


def t5(size, extra=0):
    width, ff, layers, heads = SIZES[size]
    return T5ForConditionalGeneration(T5Config(
        d_model=width, d_ff=ff, num_layers=layers, num_decoder_layers=layers, num_heads=heads, d_kv=64,
        vocab_size=32128 + extra, decoder_start_token_id=0))


def bert(quick=False):
    width, layers, heads, ff = (64, 2, 2, 128) if quick else (512, 8, 8, 2048)
    return BertModel(BertConfig(hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads,
                                intermediate_size=ff, vocab_size=32128), add_pooling_layer=False)


def make(folder, model, *of):
    """Writes a model, of t5 or bert, to a folder."""
    torch.manual_seed(1)
    model(*of).save_pretrained(folder)


def masked(rows):
    """Rows padded to the longest, and where they are."""
    return pad(rows, 0), pad([[1] * len(r) for r in rows], 0)


def first_logits(model, ids, mask, first):
    """The scores of the tokens from first on, after one step of the decoder."""
    start = torch.zeros(len(ids), 1, dtype=torch.long, device=ids.device)
    return model(input_ids=ids, attention_mask=mask, decoder_input_ids=start).logits[:, 0, first:]
