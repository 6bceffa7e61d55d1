"""T5 and BERT in transformers on a card: the peers of the lines cuda/….

    python card.py FOLDER --work train --size tiny|small|base --how eager|compile|reduce-overhead
    python card.py FOLDER --work beam --size base --how dynamic|static
    python card.py FOLDER --work trie --size base --how dict|vectorized|static
    python card.py FOLDER --work atomic --size base --how whole|sliced
    python card.py FOLDER --work bert --size base [--dtype bf16]
    python card.py FOLDER --size … --work … --make

Needs torch with CUDA and transformers, 4.50 or newer, of the machine's own. Training is that of the paper's settings: 128
inputs, 64 different batches in turn, torch's Adafactor, which takes all parameters of a shape at once, autocast in
--dtype (fp16 with a GradScaler); "compile" and "reduce-overhead" are torch.compile of the model, without and with graphs
of CUDA. The tensors lie in pinned memory before the clock starts. What is not trained has its weights in --dtype, and
attention as transformers chooses it: SDPA in 5. A slice of an evaluation is the next 64 of 7,830 queries, with 40 beams,
a trie of 109,739 identifiers, or as many atomic identifiers. "static" has a static cache, for which transformers
compiles the decoder with mode="reduce-overhead" on a card; "dict" is prefix_allowed_tokens_fn, "vectorized" and "static"
walk the trie by a logits processor on the card; "sliced" has the documents' rows of the head alone. A slice of bert is
the next 96 documents. A slice ends when the card is done. To try the script: --device cpu and --quick, which makes all
of it small.
"""
import itertools
import types

import torch
import transformers
from transformers import BertModel, T5ForConditionalGeneration

from drawn import Numbers, Trie, allowed
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
    parser.add_argument("--how", choices=["eager", "compile", "reduce-overhead", "dynamic", "static", "dict", "vectorized", "whole", "sliced"])
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    much = QUICK if args.quick else FULL
    if args.make:
        if args.work == "bert":
            return make(args.folder, bert, args.quick)
        return make(args.folder, t5, args.size, much.documents if args.work == "atomic" else 0)
    if tuple(map(int, transformers.__version__.split(".")[:2])) < (4, 50):
        raise SystemExit(f"transformers {transformers.__version__}: the lines cuda/… compare with 4.50 or newer; REDSI_BENCH_PYTHON names a Python that has it")
    device, dtype = torch.device(args.device), DTYPES[args.dtype]
    done = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    if args.work == "bert":
        model = BertModel.from_pretrained(args.folder, add_pooling_layer=False)
    else:
        model = T5ForConditionalGeneration.from_pretrained(args.folder)
    model = model.to(device, None if args.work == "train" else dtype).eval()
    how = [args.dtype, model.config._attn_implementation] + [args.how] * bool(args.how)
    placed = lambda rows: [t.to(device) for t in masked(rows)]
    check, ready, warm = "", lambda: None, 1

    if args.work == "train":
        inputs, labels = Numbers(1).examples(much.batch * much.batches)
        pin = (lambda t: t.pin_memory()) if device.type == "cuda" else lambda t: t

        def tensors(first):
            rows, targets = inputs[first : first + much.batch], labels[first : first + much.batch]
            return [pin(t) for t in (*masked(rows), pad(targets, -100))]

        batches = itertools.cycle([tensors(i) for i in range(0, len(inputs), much.batch)])
        optimizer = torch.optim.Adafactor(model.parameters(), lr=1e-3, foreach=True)
        how.append("torch's Adafactor")
        scaler = torch.amp.GradScaler(device.type, enabled=dtype == torch.float16)
        model.train()
        step, warm = model, 3
        if args.how != "eager":
            step = torch.compile(model, mode=None if args.how == "compile" else args.how)

        def run():
            for _ in range(much.updates):
                ids, mask, target = (t.to(device, non_blocking=True) for t in next(batches))
                torch.compiler.cudagraph_mark_step_begin()
                with torch.autocast(device.type, dtype, enabled=dtype != torch.float32):
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
            model(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0].float().cpu()
            return len(batch)
    else:
        draw = Numbers(3)
        queries = draw.sequences(much.queries, *((4, 32) if args.work == "atomic" else (8, 16)))
        parts = itertools.cycle([queries[i : i + much.together] for i in range(0, len(queries), much.together)])
        first, extra = model.config.vocab_size - much.documents, {}
        if args.work == "trie" and args.how == "dict":
            extra["prefix_allowed_tokens_fn"] = allowed(draw.identifiers(much.documents))
        elif args.work == "trie":
            extra["logits_processor"] = [Trie(draw.identifiers(much.documents), model.config.vocab_size, device)]
        if args.how == "static":
            extra["cache_implementation"] = "static"
        if args.how == "sliced":
            model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight[first:].clone(), requires_grad=False)
            first = 0

        def rank(ids, mask):
            first_logits(model, ids, mask, first).float().log_softmax(-1).topk(40).indices.cpu()

        def search(ids, mask):
            model.generate(ids, attention_mask=mask, num_beams=40, num_return_sequences=40, max_new_tokens=6, **extra)

        @torch.no_grad()
        def run():
            part = next(parts)
            (rank if args.work == "atomic" else search)(*placed(part))
            done()
            return len(part)

    serve(check, run, args.slices, ready, warm, how)


main()
