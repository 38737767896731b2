"""``python -m ovillo``."""

from ovillo.app import main

if __name__ == "__main__":
    main()
