"""T5 and BERT in transformers on a card: the peer of the lines cuda/….

    python card.py FOLDER --work train --size tiny|small|base [--compile]
    python card.py FOLDER --work beam|trie|atomic|bert --size base
    python card.py FOLDER --size … --work … --make

Needs torch with CUDA and transformers of the machine's own. Training is that of the paper's settings: 128
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
from transformers import BertModel, T5ForConditionalGeneration
from transformers.optimization import Adafactor

from drawn import Numbers, allowed
from models import SIZES, bert, first_logits, make, masked, t5
from slices import arguments, pad, serve

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
# As bench/placed.go has them.
FULL = types.SimpleNamespace(batch=128, batches=64, updates=20, queries=7830, documents=109_739, together=64, texts=96)
QUICK = types.SimpleNamespace(batch=8, batches=4, updates=2, queries=6, documents=300, together=2, texts=2)


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
        if args.work == "bert":
            return make(args.folder, bert, args.quick)
        return make(args.folder, t5, args.size, much.documents if args.work == "atomic" else 0)
    device, dtype = torch.device(args.device), DTYPES[args.dtype]
    half = dtype != torch.float32 and args.work != "bert"
    cast = (lambda: torch.autocast(device.type, dtype)) if half else contextlib.nullcontext
    done = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    if args.work == "bert":
        model = BertModel.from_pretrained(args.folder, add_pooling_layer=False).to(device).eval()
    else:
        model = T5ForConditionalGeneration.from_pretrained(args.folder).to(device).eval()
    placed = lambda rows: [t.to(device) for t in masked(rows)]
    check, ready, warm = "", lambda: None, 1

    if args.work == "train":
        inputs, labels = Numbers(1).examples(much.batch * much.batches)
        pin = (lambda t: t.pin_memory()) if device.type == "cuda" else lambda t: t

        def tensors(first):
            rows, targets = inputs[first : first + much.batch], labels[first : first + much.batch]
            return [pin(t) for t in (*masked(rows), pad(targets, -100))]

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
            ids, mask = placed(batch)
            model(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0].cpu()
            return len(batch)
    else:
        draw = Numbers(3)
        queries = draw.sequences(much.queries, *((4, 32) if args.work == "atomic" else (8, 16)))
        parts = itertools.cycle([queries[i : i + much.together] for i in range(0, len(queries), much.together)])
        first, extra = model.config.vocab_size - much.documents, {}
        if args.work == "trie":
            extra["prefix_allowed_tokens_fn"] = allowed(draw.identifiers(much.documents))

        def rank(ids, mask):
            first_logits(model, ids, mask, first).float().log_softmax(-1).topk(40).indices.cpu()

        def search(ids, mask):
            model.generate(ids, attention_mask=mask, num_beams=40, num_return_sequences=40, max_new_tokens=6, **extra)

        @torch.no_grad()
        def run():
            part = next(parts)
            with cast():
                (rank if args.work == "atomic" else search)(*placed(part))
            done()
            return len(part)

    serve(check, run, args.slices, ready, warm)


main()
