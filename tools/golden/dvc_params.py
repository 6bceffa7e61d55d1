"""Golden of what DVC writes for a parameter in a command, ${x}; null where DVC refuses it.

    pip install dvc==3.67.1
    python dvc_params.py > ../../internal/pipeline/dvc/testdata/params.json
"""
import json
import sys

import dvc
from dvc.parsing.context import Context
from dvc.utils.serialize import parse_toml, parse_yaml

YAML = """1e-3 1e-4 1e-5 1E5 1e5 1.5e10 1e15 1e16 1e21 1e22 1.5e+300 5e-324 1.7976931348623157e308 9.999999999999999e22
123456789.123456789 0.1 0.30000000000000004 1.10 1.0 -0.0 -0 0 00 +1 +1.5 .5 5. 0. .5e3 .5e+3 1.e5 12e03 1.0e0 4.35
9007199254740993 9007199254740993.0 12345678901234567890 123456789012345678901234567890 1_000 1_000.5 1__0 1_ _1 0_1
0123 0108 -017 08 09.5 0x1F -0x1F 0xFF_FF 0x 0X1F 0o17 0o8 0b11 -0b11 1e400 -1e400 1e-400 .inf -.inf +.INF .nan .NaN nan inf
yes no on Off y true True TRUE false null ~ 12:30 1:2:3 1.2.3 1e 1e1_0 abc '1e-4' "yes" 0.0001 0.00009999 0.00001 2.5e-5
2024-01-01 2024-1-1 '' [1,2] {}""".split()
YAML += [
    "a b", "{a: []}", "{a: {}}", "{a: [[1]]}", "2024-01-01 10:00:00", "{a: 1.0, b: {c: 1e-5, d: [1, 2.50, x y]}, e: null, f: true, g: false, h: 'it''s', i: ''}",
    "{a: 1.0, f: true, g: false, h: 'it''s', i: '', n: 1_000}", "{a: [true, false, null, 1e5]}", "{a: {b: {c: no}}}", "{a: 1e400}",
]
OTHER = {
    "json": ["1.0", "1e-5", "1E400", "12345678901234567890123", "-0", "-0.0", "1.10", "100000000000000000000.0", '"1e-5"', "null", "true", '"\\ud83d\\ude00"'],
    "toml": ["1.0", "1e-5", "1_000", "0x1F", "inf", "-inf", "nan", "true", "1.10", "+1.5", "9007199254740993", "2024-01-01", "'1.0'"],
}


def written(doc):
    try:
        return Context(doc).resolve_str("${x} .", key="cmd")[:-2]
    except Exception:
        return None


def of(text, form):
    try:
        return {"yaml": lambda: parse_yaml(text, ""), "json": lambda: json.loads(text), "toml": lambda: parse_toml(text, "")}[form]()
    except Exception:
        return {}


rows = [["yaml", f"x: {v}\n"] for v in YAML]
rows += [["json", '{"x": %s}\n' % v] for v in OTHER["json"]]
rows += [["toml", f"x = {v}\n"] for v in OTHER["toml"]]
rows = [r + [written(of(r[1], r[0]))] for r in rows]
print("{" + json.dumps("by") + ": " + json.dumps(f"tools/golden/dvc_params.py, DVC {dvc.__version__}") + ', "rows": [')
print(",\n".join(json.dumps(r) for r in rows) + "\n]}")
