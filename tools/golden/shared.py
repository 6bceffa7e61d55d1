"""What the scripts of models share: batches, and what may follow in a trie."""
import torch


def pad(rows, value):
    """Rows padded to the longest."""
    n = max(map(len, rows))
    return torch.tensor([r + [value] * (n - len(r)) for r in rows])


def mask(rows):
    """Where rows are, padded."""
    return pad([[1] * len(r) for r in rows], 0)


def allowed(sequences, otherwise):
    """A prefix_allowed_tokens_fn along the sequences; what none goes on as may end with the token otherwise."""
    after = {}
    for s in sequences:
        for i, t in enumerate(s):
            after.setdefault(tuple(s[:i]), set()).add(t)
    return lambda batch, ids: sorted(after.get(tuple(ids.tolist()[1:]), [otherwise]))
