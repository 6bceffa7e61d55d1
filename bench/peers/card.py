"""T5 and BERT in transformers on a card: the peer of the workloads "card-…".

    python card.py FOLDER --work train --size tiny|small|base [--compile]
    python card.py FOLDER --work beam|trie|atomic|bert --size base
    python card.py FOLDER --size … --work … --make

Needs torch with CUDA and transformers 4.44.1 of the machine's own. Training is that of the paper's settings: 128
inputs, 64 different batches in turn, Adafactor, autocast in --dtype (fp16 with a GradScaler); "compile" is
torch.compile of the model. Their tensors lie in pinned memory before the clock starts. A slice of an evaluation is the
next 64 of 7,830 queries, with 40 beams, a trie of 109,739 identifiers through prefix_allowed_tokens_fn, or as many
atomic identifiers. A slice of bert is the next 96 documents, in float32, as ours are. A slice ends when the card is
done. To try the script: --device cpu and --quick, which makes all of it small.
"""
import contextlib
import itertools
import types

import torch
from transformers import BertConfig, BertModel, T5Config, T5ForConditionalGeneration
from transformers.optimization import Adafactor

from drawn import Numbers, prefixes
from slices import arguments, pad, serve

SIZES = {"tiny": (256, 1024, 4, 4), "small": (512, 2048, 6, 8), "base": (768, 3072, 12, 12), "quick": (64, 128, 2, 2)}
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
# As bench/placed.go has them.
FULL = types.SimpleNamespace(batch=128, batches=64, updates=20, queries=7830, documents=109_739, together=64, texts=96)
QUICK = types.SimpleNamespace(batch=8, batches=4, updates=2, queries=6, documents=300, together=2, texts=2)


def t5(size, extra=0):
    width, ff, layers, heads = SIZES[size]
    return T5Config(d_model=width, d_ff=ff, num_layers=layers, num_decoder_layers=layers, num_heads=heads, d_kv=64,
                    vocab_size=32128 + extra, decoder_start_token_id=0)


def bert(quick):
    width, layers, heads, ff = (64, 2, 2, 128) if quick else (512, 8, 8, 2048)
    return BertConfig(hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads, intermediate_size=ff,
                      vocab_size=32128)


def main():
    parser = arguments(__doc__)
    parser.add_argument("--work", choices=["train", "beam", "trie", "atomic", "bert"], default="train")
    parser.add_argument("--size", choices=list(SIZES), default="tiny")
    parser.add_argument("--dtype", choices=list(DTYPES), default="bf16")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    much = QUICK if args.quick else FULL
    if args.make:
        torch.manual_seed(1)
        if args.work == "bert":
            BertModel(bert(args.quick), add_pooling_layer=False).save_pretrained(args.folder)
        else:
            extra = much.documents if args.work == "atomic" else 0
            T5ForConditionalGeneration(t5(args.size, extra)).save_pretrained(args.folder)
        return
    device, dtype = torch.device(args.device), DTYPES[args.dtype]
    half = dtype != torch.float32 and args.work != "bert"
    cast = (lambda: torch.autocast(device.type, dtype)) if half else contextlib.nullcontext
    done = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    if args.work == "bert":
        model = BertModel.from_pretrained(args.folder, add_pooling_layer=False).to(device).eval()
    else:
        model = T5ForConditionalGeneration.from_pretrained(args.folder).to(device).eval()
    move = lambda rows, value: pad(rows, value).to(device)
    masked = lambda rows: (move(rows, 0), move([[1] * len(r) for r in rows], 0))
    check, ready, warm = "", lambda: None, 1

    if args.work == "train":
        inputs, labels = Numbers(1).examples(much.batch * much.batches)
        pin = (lambda t: t.pin_memory()) if device.type == "cuda" else lambda t: t

        def tensors(first):
            rows, targets = inputs[first : first + much.batch], labels[first : first + much.batch]
            return [pin(t) for t in (pad(rows, 0), pad([[1] * len(r) for r in rows], 0), pad(targets, -100))]

        batches = itertools.cycle([tensors(i) for i in range(0, len(inputs), much.batch)])
        optimizer = Adafactor(model.parameters(), lr=1e-3, scale_parameter=False, relative_step=False, warmup_init=False)
        scaler = torch.amp.GradScaler(device.type, enabled=dtype == torch.float16)
        model.train()
        step, warm = torch.compile(model) if args.compile else model, 3

        def run():
            for _ in range(much.updates):
                ids, mask, target = (t.to(device, non_blocking=True) for t in next(batches))
                with cast():
                    loss = step(input_ids=ids, attention_mask=mask, labels=target).loss
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
            done()
            return much.updates
    elif args.work == "bert":
        draw, batch = Numbers(5).texts(), []

        def ready():
            batch[:] = [next(draw) for _ in range(much.texts)]

        @torch.no_grad()
        def run():
            ids, mask = masked(batch)
            model(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0].cpu()
            return len(batch)
    else:
        draw = Numbers(3)
        queries = draw.sequences(much.queries, *((4, 32) if args.work == "atomic" else (8, 16)))
        parts = itertools.cycle([queries[i : i + much.together] for i in range(0, len(queries), much.together)])
        first, extra = model.config.vocab_size - much.documents, {}
        if args.work == "trie":
            root = prefixes(draw.identifiers(much.documents))

            def allowed(_, ids):
                node = root
                for token in ids.tolist()[1:]:
                    node = node.get(token)
                    if node is None:
                        return [1]
                return list(node) or [1]

            extra["prefix_allowed_tokens_fn"] = allowed

        def rank(ids, mask):
            start = torch.zeros(len(ids), 1, dtype=torch.long, device=device)
            logits = model(input_ids=ids, attention_mask=mask, decoder_input_ids=start).logits[:, 0, first:]
            logits.float().log_softmax(-1).topk(40).indices.cpu()

        def search(ids, mask):
            model.generate(ids, attention_mask=mask, num_beams=40, num_return_sequences=40, max_new_tokens=6, **extra)

        @torch.no_grad()
        def run():
            part = next(parts)
            with cast():
                (rank if args.work == "atomic" else search)(*masked(part))
            done()
            return len(part)

    serve(check, run, args.slices, ready, warm)


main()
