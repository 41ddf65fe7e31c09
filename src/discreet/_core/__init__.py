"""What everything is built on: errors, exact numbers, documents, kinds, arrays, progress."""
