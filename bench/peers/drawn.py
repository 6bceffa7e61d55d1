"""What is measured is drawn here, and the same in Go by internal/corpora/drawn, which a golden of tools/golden/drawn.py holds."""


class Numbers:
    """A linear congruential generator."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n

    def sequences(self, n, low, high):
        return [[2 + self.below(32000) for _ in range(low + self.below(high - low + 1))] for _ in range(n)]

    def identifiers(self, count):
        """Different identifiers of three tokens and </s>."""
        seen = {}
        while len(seen) < count:
            seen[tuple([2 + self.below(1100) for _ in range(3)] + [1])] = None
        return [list(i) for i in seen]

    def examples(self, n):
        """Inputs and labels as trainings mix them: a quarter documents, each where the draw puts it."""
        inputs, labels = [], []
        for _ in range(n):
            inputs += self.sequences(1, 32, 32) if self.below(4) == 0 else self.sequences(1, 8, 16)
            labels += self.sequences(1, 4, 8)
        return inputs, labels

    def texts(self):
        """One text after another without end: two thirds are as long as BERT reads."""
        while True:
            for low in 512, 512, 100:
                yield self.sequences(1, low, 512)[0]


def batch(lengths):
    draw = Numbers(1)
    if lengths == "full":
        return draw.sequences(128, 32, 32), draw.sequences(128, 8, 8)
    if lengths == "atomic":
        return draw.sequences(32, 64, 64) + draw.sequences(96, 8, 16), draw.sequences(128, 1, 1)
    return draw.sequences(32, 32, 32) + draw.sequences(96, 8, 16), draw.sequences(128, 4, 8)


class Trie:
    """A logits processor for identifiers: the children of a node are a range of arrays, and all rows walk at once."""

    def __init__(self, identifiers, vocabulary, device="cpu"):
        import torch

        most = max(map(len, identifiers))
        rows = torch.tensor([i + [-1] * (most - len(i)) for i in sorted(identifiers)])
        node, keys, edges = torch.zeros(len(rows), dtype=torch.long), [], 0
        for column in rows.T:  # edge i leads to node i + 1
            goes = column >= 0
            key, place = torch.unique_consecutive(node[goes] * vocabulary + column[goes], return_inverse=True)
            keys.append(key)
            node[goes], edges = edges + 1 + place, edges + len(key)
        self.keys, self.vocabulary = torch.cat(keys).to(device), vocabulary
        nodes = torch.arange(len(self.keys) + 2, device=device)
        self.first = torch.searchsorted(self.keys, nodes * vocabulary)

    def __call__(self, ids, scores):
        import torch

        node = torch.zeros(len(ids), dtype=torch.long, device=ids.device)
        for token in ids.T[1:]:
            key = node * self.vocabulary + token
            edge = torch.searchsorted(self.keys, key).clamp(max=len(self.keys) - 1)
            node = torch.where(self.keys[edge] == key, edge + 1, len(self.keys))
        count = self.first[node + 1] - self.first[node]
        row = torch.repeat_interleave(torch.arange(len(ids), device=ids.device), count)
        edge = torch.arange(len(row), device=ids.device) - torch.repeat_interleave(count.cumsum(0) - count - self.first[node], count)
        token = self.keys[edge] % self.vocabulary
        kept = torch.full_like(scores, -torch.inf)
        kept[row, token] = scores[row, token]
        kept[count == 0, 1] = scores[count == 0, 1]
        return kept


def allowed(identifiers):
    """A prefix_allowed_tokens_fn for identifiers: a dict per prefix."""
    root = {}
    for identifier in identifiers:
        node = root
        for token in identifier:
            node = node.setdefault(token, {})

    def after(_, ids):
        node = root
        for token in ids.tolist()[1:]:
            node = node.get(token)
            if node is None:
                return [1]
        return list(node) or [1]

    return after
