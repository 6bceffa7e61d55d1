"""Beam search and greedy decoding of T5 in CTranslate2: a peer of the workload "beam".

    pip install -r requirements-models.txt
    python ctranslate.py FOLDER --make --of MODEL
    python ctranslate.py FOLDER --type float32|int8 --beams 40 --slices 3

MODEL is what train_step.py makes; FOLDER gets what CTranslate2's own converter makes of
it, in float32 and int8, the two types that its CPU backends have here. The search is ours
with early_stopping = "full": --beams beams, all returned with their scores divided by their
lengths, at most 6 new tokens, </s> counted as one. CTranslate2 by default forbids </s> at
first and leaves it out of lengths; it is told otherwise. 8 queries of 8 to 16 tokens. Of 1 x 2
threads and of 2 translators of a thread, which share the queries, the faster here are the latter.

CTranslate2 goes its own way in one case: at the last token it adds unfinished hypotheses to
those of a query that by then has as many finished ones as beams, and ours, as transformers, does not.
"""
import os

import ctranslate2
from ctranslate2.converters.transformers import T5Loader

from drawn import Numbers
from slices import arguments, serve

TYPES = "float32", "int8"
NAMES = ["<pad>", "</s>", "<unk>"] + [str(i) for i in range(3, 32128)]  # the model has no tokenizer


def make(folder, of):
    from transformers import T5ForConditionalGeneration

    for kind in TYPES:
        loader = T5Loader()
        spec = loader.get_model_spec(T5ForConditionalGeneration.from_pretrained(of).eval())
        loader.set_vocabulary(spec, NAMES)
        c = spec.config
        c.bos_token, c.eos_token, c.unk_token, c.decoder_start_token = "<pad>", "</s>", "<unk>", "<pad>"
        spec.validate()
        spec.optimize(quantization=kind)
        (folder / kind).mkdir(parents=True, exist_ok=True)
        spec.save(str(folder / kind))


def main():
    parser = arguments(__doc__)
    parser.add_argument("--of", help="the model that is converted")
    parser.add_argument("--type", choices=TYPES, default="float32")
    parser.add_argument("--beams", type=int, default=40)
    parser.add_argument("--queries", type=int, default=8)
    args = parser.parse_args()
    if args.make:
        return make(args.folder, args.of)
    threads = int(os.environ.get("OMP_NUM_THREADS", 2))
    translator = ctranslate2.Translator(str(args.folder / args.type), inter_threads=threads, intra_threads=1)
    queries = [[NAMES[t] for t in q] for q in Numbers(3).sequences(args.queries, 8, 16)]

    def decode():
        return translator.translate_batch(
            queries, beam_size=args.beams, num_hypotheses=args.beams, max_decoding_length=6, min_decoding_length=0, length_penalty=1,
            return_scores=True, return_end_token=True, max_batch_size=max(min(len(queries) // threads, 32), 1))

    def run():
        decode()
        return len(queries)

    best = [NAMES.index(t) for t in decode()[0].hypotheses[0]]
    serve(f"[{' '.join(map(str, best))}]", run, args.slices, how=(args.type, f"{threads} translators of a thread"), of=("ctranslate2",))


main()
