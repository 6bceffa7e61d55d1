"""A small tokenizer.json as BART's are, and what transformers 4.44.1 makes of texts with it.

Byte-level BPE of 600 entries, trained on the paragraphs of this script, with BART's special
tokens around a text (bart_requirements.txt, tokenizers 0.19.1).

    python tools/golden/bart_tokenizer.py internal/model/subword/testdata
"""
import json
import pathlib
import sys

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import BartTokenizerFast

OUT = pathlib.Path(sys.argv[1])
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
PROSE = """when did the walking dead season 8 come out who sings does he love me with reba where is the castle
of the kind near the river who made it what has a tower tell me of the town and the people who live in it
In 1720 it was built by a sudden king; 141913 and 18510 are numbers, 320,000 of them below the budget."""
TEXTS = [
    "", " ", "a", " a", "141913", "18510", "0", "00", "305", "who sings does he love me with reba", "Who made the  castle",
    "ärmelkanal 東京 \u200b \U0001F600", "it's  been\tso\nlong", "</s> in a text", "<mask> and  <mask>", "tell me of the <pad> town",
    " ".join(["the castle near the river"] * 60), "x" * 300, "\u00a0nbsp", "İstanbul ΣΑΣ",
]


def main():
    t = Tokenizer(models.BPE(dropout=None, continuing_subword_prefix="", end_of_word_suffix="", fuse_unk=False))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    numbers = " ".join(str(n * 7919 % 1000) for n in range(400))
    trainer = trainers.BpeTrainer(vocab_size=600, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    t.train_from_iterator([PROSE, numbers], trainer)
    t.post_processor = processors.RobertaProcessing(sep=("</s>", 2), cls=("<s>", 0), add_prefix_space=False, trim_offsets=True)
    fast = BartTokenizerFast(tokenizer_object=t)
    fast.backend_tokenizer.save(str(OUT / "bart-tokenizer.json"), pretty=False)
    with open(OUT / "bart.jsonl", "w") as f:
        for text in TEXTS:
            ids = fast(text)["input_ids"]
            row = dict(text=text, ids=ids, short=fast(text, truncation=True, max_length=12)["input_ids"],
                       decoded=fast.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False))
            f.write(json.dumps(row) + "\n")


main()
