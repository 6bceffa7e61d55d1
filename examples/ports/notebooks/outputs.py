"""Prints what the cells of executed notebooks have put out, without pictures and warnings."""

import json
import sys

for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as text:
        cells = json.load(text)["cells"]
    for cell in cells:
        for out in cell.get("outputs", []):
            if out["output_type"] == "error":
                sys.exit(f"{name}: {out['ename']}: {out['evalue']}")
            if out["output_type"] != "stream":
                shown = out["data"].get("text/plain", "")
            elif out["name"] == "stdout":
                shown = out["text"]
            else:
                continue
            print("".join(shown).rstrip("\n"))
