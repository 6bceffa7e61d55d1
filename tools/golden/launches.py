"""What transformers 4.44.1 launches: the peer's side of internal/model/train/fit/launches_test.go.

Counts with torch.profiler, on the CPU, the kernels that a CUDA card would be asked for in a
training step of T5 (forward, backward, transformers' Adafactor as the paper sets it) and in
a step of its beam search with 40 beams, in eager mode and float32: an operator that has a
kernel of its own for a device counts once, whatever that kernel calls; one that is composed
of others counts as those. Views and allocations do not count. aten::dropout counts once, as
on a card, where it is one kernel. So the peer is never said to launch more than it does.
A long list of tensors that is put together counts as often as CUDA cuts it, by the rule of
internal/model/tensor/fakecard/launches.h. What waits for the card (item, bool of a tensor) is counted apart.

How many there are does not depend on lengths or on rows, which is checked with Tiny on the
batches of internal/corpora/drawn (Batch) and on two rows of them; Small and Base are counted on
two rows.

    pip install -r tools/golden/train_requirements.txt
    python tools/golden/launches.py internal/model/train/fit/testdata/launches.json
"""
import collections
import functools
import json
import pathlib
import sys

import torch
import transformers
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import T5Config, T5ForConditionalGeneration
from transformers.optimization import Adafactor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "peers"))
from drawn import Numbers  # noqa: E402
from slices import pad  # noqa: E402

SIZES = {
    "tiny": dict(d_model=256, d_ff=1024, num_layers=4, num_decoder_layers=4, num_heads=4),
    "small": dict(d_model=512, d_ff=2048, num_layers=6, num_decoder_layers=6, num_heads=8),
    "base": dict(d_model=768, d_ff=3072, num_layers=12, num_decoder_layers=12, num_heads=12),
}
# Operators with a kernel for a device that launches nothing: views and allocations.
NOTHING = {"as_strided", "empty", "empty_strided", "_reshape_alias", "resize_", "set_", "unfold", "view"}
WAITS = {"_local_scalar_dense", "nonzero", "equal"}


@functools.cache
def has_kernel(name):
    """Whether any overload of an operator is a kernel, and not composed of other operators."""
    if name == "aten::copy_":
        return True
    packet = getattr(torch.ops.aten, name.removeprefix("aten::"), None)
    names = [getattr(packet, o)._name for o in packet.overloads()] if packet else []
    known = [n for n in names if torch._C._dispatch_has_kernel(n)]
    return any(torch._C._dispatch_has_kernel_for_dispatch_key(n, "CPU") for n in known)


class Further(TorchDispatchMode):
    """CUDA's kernels of an operator beyond the first one, which the profiler does not tell."""

    def __init__(self):
        super().__init__()
        self.launches = collections.Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__
        if name in ("cat", "_stack", "stack"):
            self.launches["cat"] += joins(args[0]) - 1
        assert not name.startswith("_foreach_"), f"{name}, of which CUDA launches less than the CPU calls"
        return func(*args, **(kwargs or {}))


def joins(tensors):
    """ATen/native/cuda/Shape.cu: 128 at a time, 64 where one is not contiguous; others one by one."""
    alone = any(t.dim() > 4 or t.dtype != tensors[0].dtype for t in tensors)
    at_once = 1 if alone else 128 if all(t.is_contiguous() for t in tensors) else 64
    return max(1, -(-len(tensors) // at_once))


def count(work):
    """Launches by operator, and what waits, of work that is the same each time."""
    further = Further()
    with further:
        work()
    with profile(activities=[ProfilerActivity.CPU]) as p:
        work()
    launches, waits = collections.Counter(), 0

    def visit(event):
        nonlocal waits
        name = event.name.removeprefix("aten::")
        if event.name == "aten::dropout" and event.cpu_children:
            launches["native_dropout"] += 1
        elif not event.name.startswith("aten::") or not has_kernel(event.name):
            for e in event.cpu_children:
                visit(e)
        elif name in WAITS:
            waits += 1
        elif name not in NOTHING:
            launches[name] += 1

    for event in p.events():
        if event.cpu_parent is None:
            visit(event)
    launches += further.launches
    return dict(total=launches.total(), waits=waits, operators=dict(sorted(launches.items())))


def model(size):
    torch.manual_seed(1)
    return T5ForConditionalGeneration(T5Config(d_kv=64, vocab_size=32128, decoder_start_token_id=0, **SIZES[size]))


def batch(lengths, rows):
    draw = Numbers(1)
    if lengths == "full":
        inputs, labels = draw.sequences(128, 32, 32), draw.sequences(128, 8, 8)
    else:
        inputs = draw.sequences(32, 32, 32) + draw.sequences(96, 8, 16)
        labels = draw.sequences(128, 4, 8)
    return inputs[-rows:], labels[-rows:]


def training(size, lengths, rows):
    m = model(size).train()
    optimizer = Adafactor(m.parameters(), lr=1e-3, scale_parameter=False, relative_step=False, warmup_init=False)
    inputs, labels = batch(lengths, rows)
    ids, mask, target = pad(inputs, 0), pad([[1] * len(r) for r in inputs], 0), pad(labels, -100)

    def step():
        m(input_ids=ids, attention_mask=mask, labels=target).loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    step()  # makes the optimizer's state
    return count(step)


def beam(size):
    """One more token: what a search of five costs less that of four."""
    m = model(size).eval()
    m.generation_config.eos_token_id = None  # no hypothesis ends, so that every step is alike
    queries = Numbers(3).sequences(2, 8, 16)
    ids, mask = pad(queries, 0), pad([[1] * len(q) for q in queries], 0)

    @torch.no_grad()
    def search(n):
        m.generate(ids, attention_mask=mask, num_beams=40, num_return_sequences=40, min_new_tokens=n, max_new_tokens=n)

    search(2)
    four, five = count(lambda: search(4)), count(lambda: search(5))
    operators = {k: v - four["operators"].get(k, 0) for k, v in five["operators"].items() if v != four["operators"].get(k, 0)}
    return dict(total=five["total"] - four["total"], waits=five["waits"] - four["waits"], operators=operators)


def main():
    assert transformers.__version__ == "4.44.1", transformers.__version__
    tiny = training("tiny", "real", 128)
    assert tiny == training("tiny", "full", 128) == training("tiny", "real", 2), "launches depend on lengths or rows"
    golden = {"train": {"tiny": tiny}, "beam": {}}
    for size in SIZES:
        if size != "tiny":
            golden["train"][size] = training(size, "real", 2)
        golden["beam"][size] = beam(size)
    out = pathlib.Path(sys.argv[1])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(golden, indent=1) + "\n")
    for kind, sizes in golden.items():
        for size, c in sizes.items():
            print(kind, size, c["total"], "launches,", c["waits"], "waits")


main()
