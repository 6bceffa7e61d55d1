"""Golden of what others read in an exported run: trec_eval's values and ir_metadata.

    pip install -r ties_requirements.txt
    python ties.py FOLDER

FOLDER has tied.run (scores that are all equal), tied.qrels, and tied.exported, which kind
export_run makes of them with a header (go test ./kinds -run TestExportTies -update).
Writes tied.json: trec_eval's means for the run as it was and as it was exported, and the
metadata that repro_eval finds.
"""
import json
import os
import sys

import pytrec_eval
from repro_eval.metadata import MetadataHandler

MEASURES = {"map", "ndcg_cut_10", "P_5", "recip_rank", "success_1"}


def means(run, qrels):
    values = pytrec_eval.RelevanceEvaluator(qrels, MEASURES).evaluate(run)
    return {m: sum(v[m] for v in values.values()) / len(values) for m in sorted(MEASURES)}


def main(folder):
    path = lambda name: os.path.join(folder, name)
    with open(path("tied.qrels")) as f:
        qrels = pytrec_eval.parse_qrel(f)
    with open(path("tied.run")) as f:
        tied = pytrec_eval.parse_run(f)
    exported = MetadataHandler.strip_metadata(path("tied.exported"))
    golden = {"as_it_was": means(tied, qrels), "exported": means(exported, qrels), "metadata": MetadataHandler.read_metadata(path("tied.exported"))}
    with open(path("tied.json"), "w") as f:
        json.dump(golden, f, indent=1, sort_keys=True)
        f.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
