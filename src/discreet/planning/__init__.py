"""Choose before you spend, and check before you trust."""

from discreet.planning.verify import Certificate, verify

__all__ = ["Certificate", "verify"]
