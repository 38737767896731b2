"""One editor for each form of settings that clients keep: puts one entry in, finds it, takes it out.

Owns nothing but text: no files, no clients. Everything else in the text stays as it is, byte for byte: comments, order, indentation,
line ends. What an editor cannot take apart it refuses with ``Uneditable``.
"""

from __future__ import annotations

from ovillo.attach.formats.editor import Editor, Uneditable
from ovillo.attach.formats.json_text import JsonEditor
from ovillo.attach.formats.toml_text import TomlEditor
from ovillo.attach.formats.yaml_text import YamlEditor

__all__ = ["EDITORS", "Editor", "Uneditable"]

#: By the name that the table of clients uses.
EDITORS: dict[str, Editor] = {"json": JsonEditor(), "toml": TomlEditor(), "yaml": YamlEditor()}
