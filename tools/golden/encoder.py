"""What transformers 4.44.1 makes of 24 texts with an encoder of a folder (models_requirements.txt).

Writes OUT/texts.json and OUT/vectors.json: the mean of the last hidden states, of unit length,
of 128 tokens at most. kinds.TestPublishedEncoder compares embed with them:

    python tools/golden/encoder.py FOLDER OUT
    REDSI_ENCODER=FOLDER REDSI_ENCODER_GOLDEN=OUT go test ./kinds -run PublishedEncoder -v
"""
import json
import pathlib
import sys

import torch
from transformers import AutoModel, AutoTokenizer

TEXTS = [
    "", " ", "a", "who sings does he love me with reba", "when did the Walking Dead season 8 come out", "Naïve Bayes – a café in Zürich",
    "The planner chooses a sequential scan over an index scan when the table is small.", "SELECT count(*) FROM t WHERE a = 'b';",
    "東京は日本の首都です", "Ελλάδα και Κύπρος", "Москва — столица", "مرحبا بالعالم", "it's  been\tso\nlong", "don't  stop.", "x" * 300,
    "\U0001F600 emoji \u200b and \u00ad soft", "½ ² ﬁnal", "e\u0301 Å \u0041\u030a", "[SEP] in a text [MASK]", "1720; 141913 and 18510, 320,000",
    " ".join(["the castle near the river"] * 60), "passage: hello", "query: hello", "\u00a0nbsp\u3000wide",
]


def main(folder, out):
    out.mkdir(parents=True, exist_ok=True)
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    vectors = []
    for text in TEXTS:
        batch = tokenizer([text], truncation=True, max_length=128, return_tensors="pt")
        with torch.no_grad():
            states = model(**batch).last_hidden_state[0]
        vectors.append(torch.nn.functional.normalize(states.mean(0), dim=0).tolist())
    (out / "texts.json").write_text(json.dumps(TEXTS))
    (out / "vectors.json").write_text(json.dumps(vectors))


main(sys.argv[1], pathlib.Path(sys.argv[2]))
