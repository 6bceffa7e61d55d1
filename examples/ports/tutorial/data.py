"""A genome and reads of samples in the form of the tutorial's data, whose reads are not in its repository: made up, the
same each time. Each sample differs from the genome at places of its own and at shared ones."""

import os
import random

rng = random.Random(11)
genome = "".join(rng.choices("ACGT", k=6000))
os.makedirs("data/samples", exist_ok=True)
with open("data/genome.fa", "w") as out:
    out.write(">I\n" + "".join(genome[i : i + 60] + "\n" for i in range(0, len(genome), 60)))
shared = rng.sample(range(len(genome)), 30)
for sample in "AB":
    bases = list(genome)
    for at in shared + rng.sample(range(len(genome)), 15):
        bases[at] = rng.choice("ACGT".replace(bases[at], ""))
    with open(f"data/samples/{sample}.fastq", "w") as out:
        for i in range(900):
            at = rng.randrange(len(bases) - 100)
            read = "".join(rng.choice("ACGT") if rng.random() < 0.005 else base for base in bases[at : at + 100])
            if i % 2:
                read = read[::-1].translate(str.maketrans("ACGT", "TGCA"))
            quality = "".join(chr(33 + rng.randint(25, 40)) for _ in read)
            out.write(f"@{sample}.{i}\n{read}\n+\n{quality}\n")
