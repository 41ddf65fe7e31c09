"""The version of the software, written into every release."""

__version__ = "0.2.0"
