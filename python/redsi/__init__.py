"""Reads the stores of redsi, a reproducibility framework for retrieval experiments.

    import redsi

    store = redsi.open(".")                     # a project, a store, or a published address
    store.table("main")                         # a DataFrame
    store.run('step.bm25.title').frame()        # qid, docno, score, rank
    print(store.lineage("table.main"))          # who made what of which inputs

Nothing is written to a store. Every byte is verified against its digest before it is given
out; signatures are not judged.
"""

from .errors import Damaged, Error, NotFound, UnknownFormat
from .lineage import Made, Read, Step
from .records import Artifact, File, Input, Record
from .result import Objects, Result
from .store import Store, open
from .trec import Qrel, Qrels, Run, ScoredDoc

__all__ = [
    "Artifact", "Damaged", "Error", "File", "Input", "Made", "NotFound", "Objects", "Qrel", "Qrels", "Read",
    "Record", "Result", "Run", "ScoredDoc", "Step", "Store", "UnknownFormat", "open",
]  # fmt: skip
__version__ = "0.1.0"
