"""The engines, each of which reads some cases; `reading.read` asks them in order."""
