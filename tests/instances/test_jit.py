import subprocess
import sys

INNER = """
from schedgap.instances.jit import inner_kernel

@inner_kernel
def answer():
    return {answer}
"""
OUTER = """
from inner import answer
from schedgap.instances.jit import kernel

@kernel
def ask():
    return answer()

if __name__ == "outer":
    print(ask(), sum(ask.stats.cache_hits.values()))
"""


def asked(folder):
    """Ask in a process of its own; return what the kernel answers, and how often it was found compiled."""
    run = subprocess.run([sys.executable, "-c", "import outer"], cwd=folder, capture_output=True, text=True, check=True)
    return run.stdout.split()


def test_a_kernel_is_compiled_anew_when_another_that_it_calls_has_changed(tmp_path):
    (tmp_path / "outer.py").write_text(OUTER)
    (tmp_path / "inner.py").write_text(INNER.format(answer=1))
    assert asked(tmp_path) == ["1", "0"]
    assert asked(tmp_path) == ["1", "1"]
    (tmp_path / "inner.py").write_text(INNER.format(answer=20))
    assert asked(tmp_path) == ["20", "0"]
