"""Random search: draw parameters, keep what scores best on some seeds, and score that on seeds that nobody has seen."""

import re
import sys
import tempfile
from pathlib import Path

import numpy as np

from schedgap.bench import evaluator

FIRST = Path(__file__).with_name("candidate.py")


def main(trials: int) -> None:
    """Search, and print how the scores grow."""
    judge = evaluator(FIRST.with_name("search.toml"), seeds=range(4), held_out=range(100, 108))
    rng = np.random.default_rng(0)
    best, text = judge(FIRST).score, FIRST.read_text()
    print(f"as written: {best:.4f}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "candidate.py"
        for trial in range(trials):
            weights, size = rng.dirichlet((1, 1, 1)).round(3), round(rng.uniform(0, 2), 3)
            drawn = re.sub(r"WEIGHTS = .*", f"WEIGHTS = {tuple(weights.tolist())}", FIRST.read_text())
            path.write_text(re.sub(r"SIZE = .*", f"SIZE = {size}", drawn))
            score = judge(path).score
            if score > best:
                best, text = score, path.read_text()
                print(f"trial {trial}: {best:.4f} by {weights.tolist()}, {size}")
        path.write_text(text)
        print(f"held out: {judge.final(FIRST).score:.4f} as written, {judge.final(path).score:.4f} found")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
