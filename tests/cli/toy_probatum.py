"""The command line on a toy catalog: ``python toy_probatum.py PACKAGE SHIPPED-FOLDER ARGUMENT...``.

Workers start from this process's ``sys.path``, hence the folder of the package on it.
"""

import sys
from pathlib import Path


def run(package, shipped, arguments):
    """Run the command line on another catalog and folder of shipped evidence."""
    from probatum import catalog, cli
    from probatum.evidence import shipped_index

    load = catalog.load
    catalog.load = lambda: load(package)
    shipped_index.SHIPPED = Path(shipped)
    return cli.main(arguments)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2], sys.argv[3:]))
