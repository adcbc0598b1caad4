"""``python -m llgcy``: the same as the command ``llgcy``."""
import sys

from llgcy.cli import main

if __name__ == "__main__":
    sys.exit(main())
