"""Runs one node of a kedro pipeline, which loads and saves by the project's catalog.

What the catalog does not name is memory there and a pickle here, the metrics JSON. Versions,
folders with the time in their names, are left out.
"""

import os
import sys

import yaml
from kedro.io import DataCatalog


def run(pipeline):
    node = next(n for n in pipeline.nodes if n.func.__name__ == sys.argv[1])
    with open("conf/base/catalog.yml") as text:
        known = yaml.safe_load(text)
    known["metrics"] = {"type": "json.JSONDataset", "filepath": "data/memory/metrics.json"}
    given, config = {}, {}
    for name in node.inputs + node.outputs:
        if name.startswith("params:"):
            with open("conf/base/parameters.yml") as text:
                given[name] = yaml.safe_load(text)[name.removeprefix("params:")]
            continue
        config[name] = known.get(name) or {"type": "pickle.PickleDataset", "filepath": f"data/memory/{name}.pickle"}
        config[name].pop("versioned", None)
        os.makedirs(os.path.dirname(config[name]["filepath"]), exist_ok=True)
    catalog = DataCatalog.from_config(config)
    made = node.run(given | {name: catalog.load(name) for name in node.inputs if name not in given})
    for name, data in made.items():
        catalog.save(name, data)
