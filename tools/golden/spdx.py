"""Writes internal/system/spdx/spdx.txt: the identifiers of the SPDX License List that packaging has,
first those that version 1.2.0 of the Citation File Format has by cffconvert's copy of its schema.

    pip install -r tools/golden/spdx_requirements.txt
    python tools/golden/spdx.py > internal/system/spdx/spdx.txt
"""

import importlib.resources
import json

from packaging.licenses._spdx import LICENSES

schema = importlib.resources.files("cffconvert") / "schemas" / "1.2.0" / "schema.json"
cff = set(json.loads(schema.read_text())["definitions"]["license-enum"]["enum"])
ids = sorted(entry["id"] for entry in LICENSES.values())
print("\n".join([i for i in ids if i in cff] + [""] + [i for i in ids if i not in cff]))
