"""Holds calls of libtorch's memory-efficient attention against libtorch's own account of them (efficient_requirements.txt).

Only CUDA has that kernel. The calls that the tensor package makes are written by its test (-update), with what its
stand-in for the CPU gives. Here each is made again on libtorch's meta device, and what it gives there, shapes, strides
and types, is written beside it; the test compares both.

    python tools/golden/efficient.py internal/model/tensor/fakecard/testdata/efficient.json
"""
import json
import sys

import torch
from torch._meta_registrations import meta__efficient_attention_backward

TYPES = {"Half": torch.float16, "BFloat16": torch.bfloat16, "Float": torch.float32, "Long": torch.int64, "Int": torch.int32}
NAMES = {t: n for n, t in TYPES.items()}


def tensor(of):
    return torch.empty_strided(of["shape"], of["strides"], dtype=TYPES[of["type"]], device="meta")


def given(of):
    if isinstance(of, torch.Tensor):
        return {"shape": list(of.shape), "strides": list(of.stride()), "type": NAMES[of.dtype]}
    return of


def main():
    with open(sys.argv[1]) as f:
        calls = json.load(f)
    for call in calls:
        operator = getattr(torch.ops.aten, call["operator"].removeprefix("aten::")).default
        names = [a.name for a in operator._schema.arguments if a.kwarg_only]
        takes = [tensor(t) if isinstance(t, dict) else t for t in call["takes"]]
        plain = len(takes) - len(names)
        options = dict(zip(names, takes[plain:]))
        if call["operator"].endswith("_backward"):  # its registration forgets the result, the sixth operand, and windows
            options.pop("window_size")
            gives = list(meta__efficient_attention_backward(*takes[:5], *takes[6:plain], **options))
            if not takes[15]:  # no gradient of a bias: CUDA gives none
                gives[3] = None
        else:
            gives = operator(*takes[:plain], **options)
        call["card"] = [given(g) for g in gives]
    with open(sys.argv[1], "w") as f:
        f.write("[" + ",\n".join(json.dumps(call, separators=(",", ":")) for call in calls) + "]\n")


if __name__ == "__main__":
    main()
