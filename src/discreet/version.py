"""The version of the software, written into every release."""

__version__ = "0.1.0"
