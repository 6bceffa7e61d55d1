"""Goldens of internal/model/optimizer from transformers 4.44.1 (models_requirements.txt).

Takes 20 steps with given gradients on parameters of several shapes, once with
scale_parameter and once without, and writes the parameters after each of steps 1
to 3 and after step 20, and the optimizer's state at the end.

    python tools/golden/adafactor.py internal/model/optimizer/testdata
"""
import pathlib
import sys

import torch
from safetensors.torch import save_file
from transformers.optimization import Adafactor

OUT = pathlib.Path(sys.argv[1])
SHAPES = {"matrix": (12, 7), "tall": (40, 3), "vector": (9,), "rows": (5, 1), "unused_rows": (6, 4)}


def gradient(name, shape, step):
    g = torch.Generator().manual_seed(1000 * step + len(name))
    grad = torch.randn(shape, generator=g) * (0.01 if step % 3 else 30.0)
    if name == "unused_rows":  # rows of an embedding that no token of the batch names
        grad[3:] = 0
    return grad


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    for scaled in (False, True):
        g = torch.Generator().manual_seed(3)
        params = {k: torch.nn.Parameter(torch.randn(s, generator=g) * 0.1) for k, s in SHAPES.items()}
        golden = {f"start.{k}": p.detach().clone() for k, p in params.items()}
        optimizer = Adafactor(params.values(), lr=1e-2, eps=(1e-30, 1e-3), clip_threshold=1.0, decay_rate=-0.8,
                              beta1=None, weight_decay=0.0, relative_step=False, scale_parameter=scaled, warmup_init=False)
        for step in range(1, 21):
            for k, p in params.items():
                p.grad = gradient(k, p.shape, step)
                golden[f"grad.{step}.{k}"] = p.grad.clone()
            optimizer.step()
            if step in (1, 2, 3, 20):
                golden.update({f"after.{step}.{k}": p.detach().clone() for k, p in params.items()})
        for k, p in params.items():
            state = optimizer.state[p]
            for name in ("exp_avg_sq", "exp_avg_sq_row", "exp_avg_sq_col"):
                if name in state:
                    golden[f"state.{name}.{k}"] = state[name].clone()
        save_file(golden, OUT / f"scale_parameter_{str(scaled).lower()}.safetensors")


main()
