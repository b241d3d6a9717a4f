"""`python -m processor_conformance`: the command."""

import sys

from .cli import main

sys.exit(main())
