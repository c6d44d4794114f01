"""``python -m probatum`` is the command line."""

import sys

from probatum.cli import main

if __name__ == "__main__":
    sys.exit(main())
