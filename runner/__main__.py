"""``python -m runner`` is the ``runner`` command."""

from runner.cli.main import main

if __name__ == "__main__":
    main()
