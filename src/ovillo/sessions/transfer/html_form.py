"""The HTML export: one file that needs nothing else, no network and no script.

Owns the page. History is untrusted: every text is escaped, Markdown is read without raw HTML and without
images, and a content policy forbids the page to load or run anything at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from ovillo.model.quoting import markup, printable, printable_line
from ovillo.model.records import Author, Message, Part, PartType, Role, ToolStatus
from ovillo.sessions.transfer.diffs import diff_lines, looks_like_diff
from ovillo.sessions.transfer.html_style import STYLE
from ovillo.sessions.transfer.transcript import (
    Transcript,
    head_facts,
    is_aside,
    is_compaction,
    marks,
    moment,
    says_nothing,
    speaker,
    tool_facts,
    tool_input,
    tool_target,
)

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
#: Longer texts are shown as they were written: no Markdown reader is asked to take megabytes.
_MAX_MARKDOWN = 200_000
_FENCED = re.compile(r"^ {0,3}```[^`\n]*\n(.*?)^ {0,3}```[ \t]*$", re.MULTILINE | re.DOTALL)
#: Characters of a diff that are coloured line by line; the rest follows plain.
_MAX_COLOURED = 500_000


def write_html(transcript: Transcript) -> Iterator[str]:
    title = markup(printable_line(transcript.summary.title, 200))
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<div class='page'>\n"
    )
    yield f"<header>\n<h1>{title}</h1>\n<dl class='facts'>"
    yield "".join(f"<dt>{markup(name)}</dt><dd>{markup(value)}</dd>\n" for name, value in head_facts(transcript))
    yield "</dl>\n<p class='hint'>Times are UTC. Tool calls and reasoning are folded: open them with a click.</p>\n</header>\n"
    yield from _outline(transcript)
    yield "<main>\n"
    for message in transcript.messages():
        yield from _message(message)
    yield f"</main>\n<footer>Exported by ovillo at {moment(transcript.exported_at)} UTC.</footer>\n</div>\n</body>\n</html>\n"


def _outline(transcript: Transcript) -> Iterator[str]:
    """Links to what people asked, and to compactions."""
    entries = []
    for message in transcript.messages():
        if is_compaction(message):
            entries.append((message.id, "— compaction —"))
        elif message.role is Role.USER and message.author is Author.HUMAN and not message.reverted:
            words = next((p.text for p in message.parts if p.text.strip() and not p.synthetic), "")
            entries.append((message.id, printable_line(words, 90) or "(no text)"))
    if len(entries) < 2:
        return
    yield "<nav class='outline' aria-label='Prompts'><details open><summary>Prompts</summary><ol>\n"
    for message_id, words in entries:
        yield f"<li><a href='#{_anchor(message_id)}'>{markup(words)}</a></li>\n"
    yield "</ol></details></nav>\n"


def _message(message: Message) -> Iterator[str]:
    classes = ["message", "tool-role" if message.role is Role.TOOL else message.role.value]
    for name, holds in (
        ("reverted", message.reverted),
        ("superseded", message.superseded),
        ("synthetic", message.author is Author.SYNTHETIC),
        ("band", is_compaction(message)),
    ):
        if holds:
            classes.append(name)
    anchor = _anchor(message.id)
    yield f"<article class='{' '.join(classes)}' id='{anchor}'>\n<header><h2>{markup(speaker(message))}</h2>"
    if message.created_at is not None:
        yield f"<time>{moment(message.created_at)}</time>"
    yield "".join(f"<span class='badge'>{markup(mark)}</span>" for mark in marks(message))
    yield f"<a class='anchor' href='#{anchor}' title='{markup(message.id)}'>#</a></header>\n"
    if message.error:
        yield f"<p class='error'>Failed: {markup(printable_line(message.error, 1_000))}</p>\n"
    for part in message.parts:
        if not says_nothing(part):
            yield _part(part, message)
    yield "</article>\n"


def _part(part: Part, message: Message) -> str:
    lost = (
        f"<p class='hint'>{part.lost_bytes} bytes of this were cut away by the client itself.</p>"
        if part.lost_bytes
        else ""
    )
    if part.tool:
        return _tool(part) + lost
    if part.patch:
        return _patch(part) + lost
    if part.file and not part.text:
        return f"<p class='hint'>File: <code>{markup(printable_line(part.file.path, 500))}</code></p>\n"
    if part.type in (PartType.TEXT, PartType.COMPACTION) and not is_aside(part, message):
        if message.role is Role.USER and part.type is PartType.TEXT:
            return f"<div class='said'>{_prompt(part.text)}</div>{lost}\n"
        return f"<div class='said'>{markdown(part.text)}</div>{lost}\n"
    label = "Text the client put in" if part.type is PartType.TEXT else part.type.value.capitalize()
    target = part.file.path if part.file else printable_line(part.text, 120)
    return _folded("kind", label, target, "", f"<pre class='wrap'>{markup(part.text)}</pre>") + lost


def _tool(part: Part) -> str:
    assert part.tool is not None
    tool = part.tool
    body = []
    if tool.child_session_id:
        body.append(f"<p class='label'>Started session <code>{markup(tool.child_session_id)}</code></p>")
    if given := tool_input(tool):
        body.append(f"<p class='label'>Input</p><pre class='wrap'>{markup(given)}</pre>")
    if tool.output:
        output = printable(tool.output)
        shown = _diff(output) if looks_like_diff(output) else f"<pre>{markup(output)}</pre>"
        body.append(f"<p class='label'>Output</p>{shown}")
    failed = tool.status is ToolStatus.ERROR
    return _folded("name", tool.name, tool_target(tool), tool_facts(tool), "".join(body), failed=failed)


def _patch(part: Part) -> str:
    assert part.patch is not None
    patch = part.patch
    names = ", ".join(patch.files[:20]) + (f" and {len(patch.files) - 20} more" if len(patch.files) > 20 else "")
    body = _diff(printable(patch.diff)) if patch.diff else f"<p class='label'>{markup(names)}</p>"
    return _folded(
        "kind", "Changed", names, f"+{patch.additions} \u2212{patch.deletions}", body, opened=bool(patch.diff)
    )


def _folded(
    kind: str, name: str, target: str, state: str, body: str, *, failed: bool = False, opened: bool = False
) -> str:
    bad = " failed" if failed else ""
    return (
        f"<details{' open' if opened else ''}><summary><span class='{kind}'>{markup(printable_line(name, 80))}</span>"
        f"<span class='target'>{markup(printable_line(target, 200))}</span>"
        f"<span class='state{bad}'>{markup(state)}</span></summary><div class='body'>{body}</div></details>\n"
    )


def _diff(diff: str) -> str:
    coloured = diff[:_MAX_COLOURED]
    lines = "".join(
        f"<span class='{kind.value}'>{markup(line)}</span>" for kind, line in diff_lines(coloured.rstrip("\n"))
    )
    rest = f"<pre>{markup(diff[_MAX_COLOURED:])}</pre>" if len(diff) > _MAX_COLOURED else ""
    return f"<pre class='diff'>{lines}</pre>{rest}"


def _prompt(text: str) -> str:
    """What a person typed, as it was typed: only code in closed fences is set apart."""
    pieces = _FENCED.split(printable(text).strip("\n"))
    shown = (
        f"<pre><code>{markup(piece)}</code></pre>"
        if index % 2
        else f"<p class='plain'>{markup(piece.strip(chr(10)))}</p>"
        for index, piece in enumerate(pieces)
        if piece.strip()
    )
    return "".join(shown)


def markdown(text: str) -> str:
    """Markdown as HTML without anything a page would load or run; plain where Markdown cannot read it."""
    text = printable(text).strip("\n")
    if len(text) <= _MAX_MARKDOWN:
        try:
            return str(_reader().render(text))
        except (RecursionError, ValueError, IndexError):
            # Built to be read by people: what a Markdown reader stumbles over is still shown as written.
            pass
    return f"<p class='plain'>{markup(text)}</p>"


@lru_cache(maxsize=1)
def _reader() -> MarkdownIt:
    from markdown_it import MarkdownIt  # start-up cost: only this form reads Markdown

    reader = MarkdownIt("commonmark", {"html": False, "linkify": False, "breaks": True}).enable(
        ["table", "strikethrough"]
    )
    # An image would be loaded from wherever the text says.
    reader.disable("image")
    reader.add_render_rule("fence", _fence)
    return reader


def _fence(self: object, tokens: object, index: int, options: object, env: object) -> str:
    token = tokens[index]  # type: ignore[index]  # markdown-it's own list of tokens
    content = str(token.content)
    if re.match(r"\s*(diff|patch|udiff)\b", str(token.info)) or (not token.info.strip() and looks_like_diff(content)):
        return _diff(content)
    return f"<pre><code>{markup(content)}</code></pre>\n"


def _anchor(message_id: str) -> str:
    """The id as a fragment: letters, digits, ``-`` and ``_`` only."""
    return "m-" + re.sub(r"[^A-Za-z0-9_-]", lambda found: f".{ord(found.group()):x}", message_id)
