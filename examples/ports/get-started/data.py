"""Posts in the form of the original's data.xml, which is 14 MB and not in its repository: made up, the same each time."""

import os
import random

rng = random.Random(7)
words = ["".join(rng.choices("bcdfgklmnprst", k=2) + rng.choices("aeiou", k=2) + rng.choices("lmnrst", k=1)) for _ in range(600)]
os.makedirs("data", exist_ok=True)
with open("data/data.xml", "w", encoding="utf-8") as out:
    for i in range(1, 2001):
        about_r = rng.random() < 0.3
        known = words[:60] if about_r and rng.random() < 0.7 else words
        text = " ".join(rng.choice(known) for _ in range(rng.randint(8, 40)))
        tags = "&lt;r&gt;&lt;plot&gt;" if about_r else "&lt;go&gt;"
        out.write(f'<row Id="{i}" Title="{text[:40]}" Body="&lt;p&gt;{text}&lt;/p&gt;" Tags="{tags}" />\n')
