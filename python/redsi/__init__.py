"""Runs pipelines of redsi, a reproducibility framework for retrieval experiments, and reads its stores.

    import redsi

    redsi.plan(vars={"seeds": 8})               # what would run, why, and how long it takes
    result = redsi.run(vars={"seeds": 8})       # runs it, by the program redsi
    result.tables["main"]                       # a DataFrame

    store = redsi.open(".")                     # a project, a store, or a published address
    store.table("main")                         # a DataFrame
    store.run('step.bm25.title').frame()        # qid, docno, score, rank
    print(store.lineage("table.main"))          # who made what of which inputs

Readers write nothing to a store. Every byte is verified against its digest before it is given
out; signatures are not judged.
"""

from .errors import Damaged, Error, NotFound, UnknownFormat
from .lineage import Made, Read, Step
from .plans import Plan, plan
from .records import Artifact, File, Input, Record
from .reproduction import Reproduction, RunFailed, run
from .result import Objects, Result
from .store import Store, open
from .trec import Qrel, Qrels, Run, ScoredDoc

__all__ = [
    "Artifact", "Damaged", "Error", "File", "Input", "Made", "NotFound", "Objects", "Plan", "Qrel", "Qrels",
    "Read", "Record", "Reproduction", "Result", "Run", "RunFailed", "ScoredDoc", "Step", "Store", "UnknownFormat", "open",
    "plan", "run",
]  # fmt: skip
__version__ = "0.1.0"
