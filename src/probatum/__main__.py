"""``python -m probatum`` is the command line."""

from probatum.cli import main

if __name__ == "__main__":
    main()
