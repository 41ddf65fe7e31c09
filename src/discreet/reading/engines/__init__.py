"""The engines, each of which reads some cases. A file in this folder registers its engine by stating its place."""
