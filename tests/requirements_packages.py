"""Promises about how ovillo is installed, packed and started (``tests.requirements``)."""

from __future__ import annotations

PACKAGES: dict[str, tuple[str, str]] = {
    "PACK-1": ("The server runs from login: put in once, shown before, taken out whole", "issue 12 Packages"),
    "PACK-2": ("A service's file that another wrote or changed is left alone and named", "issue 12 Packages"),
    "PACK-3": ("systemd takes the unit as it is, and its very line starts the server", "issue 12 Packages"),
    "PACK-4": ("launchd and Windows are given what they read", "issue 12 Packages"),
    "PACK-5": ("doctor says when another ovillo wrote the database, and which is needed", "issue 12 Packages"),
    "PACK-6": (
        "What upgrades or extends it is the command of the package manager that installed it",
        "issue 12 Packages",
    ),
    "PACK-7": ("The version stands in one place", "issue 12 Packages"),
    "PACK-8": ("The wheel carries every file of the package, also those to come", "issue 12 Packages"),
    "PACK-9": ("pip, pipx, uv and uvx install the wheel, and a stranger can use it", "issue 12 Packages"),
    "PACK-10": ("Each extra can be installed and is then there", "issue 12 Packages"),
    "PACK-11": ("Bundles are made from what install writes, and keep to their schemas", "issue 12 Packages"),
    "PACK-12": (
        "The image is made by its steps, runs without rights, and is healthy when it serves",
        "issue 12 Packages",
    ),
}
