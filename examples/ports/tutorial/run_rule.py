"""Runs a script of a Snakemake rule, which finds its files in the object snakemake."""

import builtins
import runpy
import sys
import types

script, source, target = sys.argv[1:]
builtins.snakemake = types.SimpleNamespace(input=[source], output=[target])
sys.path.insert(0, script.rpartition("/")[0])
runpy.run_path(script)
