"""T5 and BERT in transformers on a card: the peer of the workloads "card-…".

    python card.py FOLDER --work train --size tiny|small|base --lengths real [--compile]
    python card.py FOLDER --work beam|trie|atomic|bert --size tiny
    python card.py FOLDER --size … --work … --make

Needs torch with CUDA and transformers 4.44.1 of the machine's own. Training is that of the paper's settings: 128
inputs, Adafactor, autocast in --dtype (fp16 with a GradScaler); "compile" is torch.compile of the model. Evaluation
is of 64 queries a time with 40 beams, a trie of 100,000 identifiers through prefix_allowed_tokens_fn, or 100,000
atomic identifiers. A slice ends when the card is done. --device cpu is there to try the script.
"""
import contextlib

import torch
from transformers import BertConfig, BertModel, T5Config, T5ForConditionalGeneration
from transformers.optimization import Adafactor

from slices import Numbers, arguments, batch, pad, prefixes, serve

SIZES = {"tiny": (256, 1024, 4, 4), "small": (512, 2048, 6, 8), "base": (768, 3072, 12, 12)}
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
DOCUMENTS = 100_000


def t5(size, extra=0):
    width, ff, layers, heads = SIZES[size]
    return T5Config(d_model=width, d_ff=ff, num_layers=layers, num_decoder_layers=layers, num_heads=heads, d_kv=64,
                    vocab_size=32128 + extra, decoder_start_token_id=0)


def main():
    parser = arguments(__doc__)
    parser.add_argument("--work", choices=["train", "beam", "trie", "atomic", "bert"], default="train")
    parser.add_argument("--size", choices=list(SIZES), default="tiny")
    parser.add_argument("--lengths", choices=["full", "real"], default="real")
    parser.add_argument("--dtype", choices=list(DTYPES), default="bf16")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--compile", action="store_true")
    args = parser.parse_args()
    if args.make:
        torch.manual_seed(1)
        if args.work == "bert":
            BertModel(BertConfig(hidden_size=512, num_hidden_layers=8, num_attention_heads=8, intermediate_size=2048,
                                 vocab_size=32128), add_pooling_layer=False).save_pretrained(args.folder)
        else:
            extra = DOCUMENTS if args.work == "atomic" else 0
            T5ForConditionalGeneration(t5(args.size, extra)).save_pretrained(args.folder)
        return
    device, dtype = torch.device(args.device), DTYPES[args.dtype]
    half = dtype != torch.float32
    cast = (lambda: torch.autocast(device.type, dtype)) if half else contextlib.nullcontext
    done = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    if args.work == "bert":
        model = BertModel.from_pretrained(args.folder, add_pooling_layer=False).to(device).eval()
    else:
        model = T5ForConditionalGeneration.from_pretrained(args.folder).to(device).eval()
    move = lambda rows, value: pad(rows, value).to(device)
    masked = lambda rows: (move(rows, 0), move([[1] * len(r) for r in rows], 0))

    if args.work == "train":
        inputs, labels = batch(args.lengths)
        (ids, mask), target = masked(inputs), move(labels, -100)
        with torch.no_grad():
            check = f"loss {model(input_ids=ids, attention_mask=mask, labels=target).loss.item():.2f}"
        optimizer = Adafactor(model.parameters(), lr=1e-3, scale_parameter=False, relative_step=False, warmup_init=False)
        scaler = torch.amp.GradScaler(device.type, enabled=dtype == torch.float16)
        model.train()
        step = torch.compile(model) if args.compile else model

        def run():
            for _ in range(10):
                with cast():
                    loss = step(input_ids=ids, attention_mask=mask, labels=target).loss
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
            done()
            return 10
    elif args.work == "bert":
        draw, texts = Numbers(5), []
        for i in range(96):
            texts += draw.sequences(1, 100 if i % 3 == 2 else 512, 512)
        ids, mask = masked(texts)
        check = ""

        @torch.no_grad()
        def run():
            with cast():
                model(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0].float().cpu()
            return len(texts)
    elif args.work == "atomic":
        first, queries = model.config.vocab_size - DOCUMENTS, Numbers(3).sequences(256, 4, 32)
        check = ""

        @torch.no_grad()
        def run():
            for i in range(0, len(queries), 64):
                ids, mask = masked(queries[i : i + 64])
                start = torch.zeros(len(ids), 1, dtype=torch.long, device=device)
                with cast():
                    logits = model(input_ids=ids, attention_mask=mask, decoder_input_ids=start).logits[:, 0, first:]
                logits.float().log_softmax(-1).topk(40).indices.cpu()
            return len(queries)
    else:
        draw = Numbers(3)
        queries, extra = draw.sequences(64, 8, 16), {}
        if args.work == "trie":
            root = prefixes(draw, DOCUMENTS)

            def allowed(_, ids):
                node = root
                for token in ids.tolist()[1:]:
                    node = node.get(token)
                    if node is None:
                        return [1]
                return list(node) or [1]

            extra["prefix_allowed_tokens_fn"] = allowed
        ids, mask = masked(queries)
        check = ""

        @torch.no_grad()
        def run():
            with cast():
                model.generate(ids, attention_mask=mask, num_beams=40, num_return_sequences=40, max_new_tokens=6, **extra)
            done()
            return len(queries)

    serve(check, run, args.slices)


main()
