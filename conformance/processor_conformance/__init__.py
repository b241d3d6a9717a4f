"""The runner: plays scenarios against any implementation and says which rules it keeps."""

__version__ = "0.1.0"
