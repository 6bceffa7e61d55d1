"""The package's modules are layers: each imports only modules of the layers below its own."""

import ast
import unittest
from pathlib import Path

import redsi

PACKAGE = Path(redsi.__file__).parent
LAYERS = [
    "errors frames display",
    "places records program trec",
    "lineage result",
    "store",
    "reproduction",
    "plans",
    "__init__ __main__",
]


def imported(source, modules):
    """The modules of redsi that a source imports, also within functions and for types alone."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            base = ".".join(filter(None, ["redsi" if node.level else "", node.module]))
            names = [f"{base}.{a.name}" for a in node.names]
        else:
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        for first, second in ((name + "..").split(".")[:2] for name in names):
            if first == "redsi":
                yield second if second in modules else "__init__"


class TestLayers(unittest.TestCase):
    def test_imports(self):
        sources = {path.stem: path.read_text("utf-8") for path in PACKAGE.glob("*.py")}
        self.assertEqual(sorted(" ".join(LAYERS).split()), sorted(sources))  # each stands in one layer
        below = set()
        for layer in LAYERS:
            for module in layer.split():
                self.assertEqual(set(imported(sources[module], sources)) - below, set(), f"{module} imports what is not below it")
            below.update(layer.split())


if __name__ == "__main__":
    unittest.main()
