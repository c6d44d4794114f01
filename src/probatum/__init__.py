"""Every method importable, every claim executable."""

__version__ = "0.1.0"
