"""The command `schedgap`, and `python -m schedgap`."""

from importlib import import_module

from schedgap.interruption import Interrupted, leave, watch


def main() -> None:
    """Run the command line, which takes a moment to import, and exit."""
    watch()
    try:
        import_module("schedgap.bench.cli.app").main()
    except Interrupted as interruption:
        leave(interruption)


if __name__ == "__main__":
    main()
