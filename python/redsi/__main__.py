"""``python -m redsi ARGS`` is ``redsi ARGS``."""

import sys

from .program import main

sys.exit(main(sys.argv[1:]))
