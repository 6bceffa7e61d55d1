"""Golden tokens of what a model reads of documents and queries.

    pip install -r t5_tokenizer_requirements.txt
    python tools/golden/model_inputs.py assets/tokenizers/t5-tokenizer.json.gz \\
        internal/model/subword/testdata/bart-tokenizer.json internal/ranking/retrieve/testdata/inputs.jsonl

A document is the tokens of "index:", then the first 32 of its text; a query the tokens of
"query:", then those of its text, the first 64 of both together; transformers puts the special
tokens around them. "plain" is without prefixes. Texts are lower-cased.
"""
import gzip
import json
import sys
import tempfile

from transformers import BartTokenizerFast, T5TokenizerFast

PAGE = "The Walking Dead (season 8) - Wikipedia The Walking Dead The eighth season of The Walking Dead , an American " \
       "post-apocalyptic horror television series on AMC , premiered on October 22 , 2017 , and concluded on April 15 , 2018 . "
TEXTS = ["", " ", "Who sings does he love me with Reba", "14", "index: query:", " two  blanks", "ÄRMELKANAL 東京 \U0001F600", "</s> in a text",
         "the " * 31 + "the", "the " * 32 + "the", "the " * 61 + "the", "the " * 62 + "the", PAGE, PAGE * 30]


def main(t5, bart, out):
    with tempfile.NamedTemporaryFile(suffix=".json") as plain:
        plain.write(gzip.open(t5).read())
        plain.flush()
        tokenizers = {"t5": T5TokenizerFast(tokenizer_file=plain.name, extra_ids=100), "bart": BartTokenizerFast(tokenizer_file=bart)}
    with open(out, "w") as f:
        for name, tok in tokenizers.items():
            def pieces(text):
                return tok(text, add_special_tokens=False, verbose=False)["input_ids"]
            whole = tok.build_inputs_with_special_tokens
            for text in TEXTS:
                ids = pieces(text.lower())
                f.write(json.dumps(dict(
                    tokenizer=name, text=text,
                    document=whole(pieces("index:") + ids[:32]), query=whole((pieces("query:") + ids)[:64]), long=len(ids) + len(pieces("query:")) > 64,
                    plain_document=whole(ids[:32]), plain_query=whole(ids[:64])), separators=(",", ":")) + "\n")
            print(name, pieces("index:"), pieces("query:"), whole([]))


main(*sys.argv[1:])
