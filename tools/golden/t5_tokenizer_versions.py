"""tokenizer.json of a T5 with an added token, as transformers 4.44.1 (t5_tokenizer_requirements.txt) and 5.24.0
(transformers5_requirements.txt) save it, and the ids that each makes of texts with its own: U+0085 and blanks about an added token
differ. Run by both, on 500 of T5's tokens:

    python tools/golden/t5_tokenizer_versions.py assets/tokenizers/t5-tokenizer.json.gz internal/model/subword/testdata/versions
"""
import gzip
import json
import pathlib
import sys
import tempfile

import transformers

if transformers.__version__ < "5":
    from transformers import T5TokenizerFast as T5Tokenizer
else:
    from transformers import T5Tokenizer

TEXTS = ["", " ", "a", "a\x85b", "\x85", "a \x85 b", "x @DOC_1@ y", "x@DOC_1@y", "@DOC_1@", " @DOC_1@ ", "@DOC_1@ @DOC_1@", "a</s>b", "a </s>", "</s>", "<extra_id_0>x",
         "x <extra_id_5> y", "a  b", "the of and 141913 18510", "e\u0301\u0301", "\ufeffx\u00ad", "don't , he 's ."]


def main(source, out):
    file = json.loads(gzip.open(source).read())
    vocab = file["model"]["vocab"]
    file["model"]["vocab"] = [v for i, v in enumerate(vocab) if i < 300 or i >= 32000 or len(v[0]) == 1 and v[0].isascii()]
    place = {v[0]: i for i, v in enumerate(file["model"]["vocab"])}
    for added in file["added_tokens"]:
        added["id"] = place[added["content"]]
    del file["normalizer"]["normalizers"][0]  # the table of characters, 300 kB, which both have
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "tokenizer.json").write_text(json.dumps(file))
        (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "T5Tokenizer", "extra_ids": 100}')
        tokenizer = T5Tokenizer.from_pretrained(folder)
        tokenizer.add_tokens(["@DOC_1@"])
        tokenizer.save_pretrained(folder)
        saved = json.loads((folder / "tokenizer.json").read_text())
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{transformers.__version__}.json").write_text(json.dumps(saved, separators=(",", ":")) + "\n")
    rows = [json.dumps(dict(text=t, ids=tokenizer(t).input_ids)) for t in TEXTS]
    (out / f"{transformers.__version__}.jsonl").write_text("\n".join(rows) + "\n")


main(sys.argv[1], pathlib.Path(sys.argv[2]))
