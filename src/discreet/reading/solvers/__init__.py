"""The solvers, each of which reads some problems. A file in this folder registers its solver by stating its place."""
