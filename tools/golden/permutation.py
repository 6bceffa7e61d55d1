"""Golden permutations of Python's random.Random(seed).shuffle: internal/corpora/docid/permutation_test.go.

    python permutation.py

A line for each: numbers n, budget b, seed, the first numbers, the last, and the first 16
digits of the SHA-256 of the n numbers, a line each. CPython 3.11; the shuffle is the same
since 3.2.
"""
import hashlib
import random

DOCUMENTS = 109_739
CASES = [(20, 20, 42), (20, 1000, 42), (DOCUMENTS, 320_000, 42), (109_229, 320_000, 42)]
CASES += [(DOCUMENTS, 320_000, seed) for seed in (43, 44, 45, 46)]
CASES += [(DOCUMENTS, DOCUMENTS << i, 42) for i in range(6)]
CASES += [(10, 10, 1 << 40), (10, 10, 0)]

for n, b, seed in CASES:
    numbers = list(range(b))
    random.Random(seed).shuffle(numbers)
    numbers = numbers[:n]
    digest = hashlib.sha256("".join(f"{i}\n" for i in numbers).encode()).hexdigest()[:16]
    print(n, b, seed, *numbers[:20], numbers[-1], digest)
