"""Makes internal/corpora/drawn/testdata/drawn.json of bench/peers/drawn.py. Needs no package.

    python drawn.py > ../../internal/corpora/drawn/testdata/drawn.json
"""
import hashlib
import itertools
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "bench" / "peers"))
from drawn import Numbers, batch  # noqa: E402


def digest(value):
    """The SHA-256 of what a list is in JSON without spaces."""
    return hashlib.sha256(json.dumps(value, separators=(",", ":")).encode()).hexdigest()


draw = Numbers(3)
golden = {"below": [draw.below(32000) for _ in range(4)]}
golden["sequences"] = digest(draw.sequences(64, 8, 16))
golden["identifiers"] = digest(draw.identifiers(1000))
golden["after"] = draw.below(1 << 30)
golden["batches"] = {lengths: digest(list(batch(lengths))) for lengths in ("full", "real", "atomic")}
golden["examples"] = digest(list(Numbers(1).examples(300)))
golden["texts"] = digest(list(itertools.islice(Numbers(5).texts(), 7)))
print(json.dumps(golden, indent=1))
