"""Small tokenizer.json of several sorts, and what tokenizers 0.19.1 makes of texts with them.

Trained on the paragraphs of this script: SentencePiece's Unigram with the special tokens of mT5
and of XLM-R, byte-level BPE as RoBERTa's, WordPiece as cased BERT's and as MPNet's, and a BPE
that has no words (bart_requirements.txt has the versions).

    python tools/golden/tokenizer_sorts.py internal/model/subword/testdata/sorts
"""
import gzip
import json
import pathlib
import random
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

OUT = pathlib.Path(sys.argv[1])
PROSE = """when did the walking dead season 8 come out who sings does he love me with reba where is the castle
of the kind near the river who made it what has a tower tell me of the town and the people who live in it
In 1720 It was built by a sudden King; 141913 and 18510 are numbers, 320,000 of them below the Budget. Ärmelkanal café naïve
""".splitlines() + [" ".join(str(n * 7919 % 1000) for n in range(100))]
TEXTS = [
    "", " ", "  ", "a", " a", "a ", "A", "141913", "18510", "0", "00", "305", "who sings does he love me with reba", "Who made the  castle",
    "ärmelkanal 東京 \u200b \U0001F600", "it's  been\tso\nlong", "</s> in a text", "<mask> and  <mask>x", "tell me <pad> town [SEP] x [MASK]",
    " ".join(["the castle near the river"] * 60), "x" * 300, "\u00a0nbsp", "İstanbul ΣΑΣ", "ﬁnal ½ ²", "e\u0301 Å \u0041\u030a",
    "<extra_id_0> query: x", "\u2028a\u2029b\u3000c", "▁the ▁", "don't  stop.", "\ufeffx\u00ad", "query: Who", "passage: the King",
]
META = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])


def unigram(special, template, extra=()):
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer, t.decoder = META, decoders.Metaspace()
    t.train_from_iterator(PROSE, trainers.UnigramTrainer(vocab_size=200, special_tokens=special, unk_token="<unk>", show_progress=False))
    t.add_special_tokens(list(extra))
    ids = [(s, t.token_to_id(s)) for s in special if s in template]
    t.post_processor = processors.TemplateProcessing(single=template, special_tokens=ids)
    return t


def roberta():
    t = Tokenizer(models.BPE())
    t.pre_tokenizer, t.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>", AddedToken("<mask>", lstrip=True)]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    t.train_from_iterator(PROSE, trainers.BpeTrainer(vocab_size=450, special_tokens=special, initial_alphabet=alphabet, show_progress=False))
    t.post_processor = processors.RobertaProcessing(sep=("</s>", 2), cls=("<s>", 0), add_prefix_space=False)
    return t


def wordpiece(lowercase, special, first, last):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    t.pre_tokenizer, t.decoder = pre_tokenizers.BertPreTokenizer(), decoders.WordPiece(cleanup=False)
    t.train_from_iterator(PROSE, trainers.WordPieceTrainer(vocab_size=200, special_tokens=special, show_progress=False))
    t.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}", special_tokens=[(s, t.token_to_id(s)) for s in (first, last)])
    return t


def without_words():
    t = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    special = ["<pad>", "</s>", "<unk>"] + [f"<0x{i:02X}>" for i in range(256)]
    t.train_from_iterator(PROSE, trainers.BpeTrainer(vocab_size=400, special_tokens=special, show_progress=False))
    t.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return t


def texts():
    rng = random.Random(16)
    words = " ".join(PROSE).split() + TEXTS
    blocks = [(0x20, 0x7E), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x5FF), (0x900, 0x97F), (0x2000, 0x206F), (0x2150, 0x218F),
              (0x3040, 0x30FF), (0x4E00, 0x4F00), (0xAC00, 0xAC80), (0xFB00, 0xFB4F), (0xFF00, 0xFFEF), (0x1F300, 0x1F64F), (1, 31)]
    for _ in range(150):
        lo, hi = rng.choice(blocks)
        odd = "".join(chr(rng.randint(lo, hi)) for _ in range(rng.randint(1, 6)))
        yield rng.choice(["", " "]).join(rng.choices(words, k=rng.randint(0, 4)) + [odd] + rng.choices(words, k=rng.randint(0, 4)))


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    mt5 = unigram(["<pad>", "</s>", "<unk>"], "$A </s>", [AddedToken(f"<extra_id_{i}>") for i in range(3)])
    mt5.enable_truncation(9)  # as some files are published
    mt5.enable_padding(length=16)
    sorts = {
        "mt5": mt5,
        "xlm-roberta": unigram(["<s>", "<pad>", "</s>", "<unk>"], "<s> $A </s>", [AddedToken("<mask>", lstrip=True)]),
        "roberta": roberta(),
        "bert-cased": wordpiece(False, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], "[CLS]", "[SEP]"),
        "mpnet": wordpiece(True, ["<s>", "<pad>", "</s>", "[UNK]", AddedToken("<mask>", lstrip=True)], "<s>", "</s>"),
        "without-words": without_words(),
    }
    rows = []
    for name, t in sorts.items():
        t.save(str(OUT / f"{name}.json"), pretty=False)
        t.no_padding()
        for text in TEXTS + list(texts()):
            t.no_truncation()
            ids = t.encode(text).ids
            row = dict(sort=name, text=text, ids=ids, pieces=t.encode(text, add_special_tokens=False).ids, decoded=t.decode(ids))
            t.enable_truncation(12)
            row["short"] = t.encode(text).ids
            rows.append(json.dumps(row))
    with gzip.GzipFile(OUT / "golden.jsonl.gz", "wb", mtime=0) as f:
        f.write(("\n".join(rows) + "\n").encode())


main()
