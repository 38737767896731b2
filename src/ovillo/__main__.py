"""``python -m ovillo``."""

from ovillo.app import main

main()
