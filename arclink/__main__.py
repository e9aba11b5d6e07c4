"""``python -m arclink``: the same as the command ``arclink``."""

from arclink.cli.main import main

if __name__ == "__main__":
    main()
