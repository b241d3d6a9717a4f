"""The runner: plays scenarios against any implementation and says which rules it keeps."""
