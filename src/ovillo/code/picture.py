"""A picture of the module graph as SVG: who imports whom, from left (uses others) to right (is used).

Owns the drawing. Many files are drawn as their folders: what cannot be read helps nobody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

from ovillo.code.modules import ModuleNode

#: More boxes than this are drawn as folders instead, then as fewer, outer folders.
_MOST_BOXES = 60
_BOX_HEIGHT, _ROW, _GAP, _MARGIN, _LETTER = 26, 38, 90, 24, 7.2
_STYLE = (
    "text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#24292f}"
    ".box{fill:#f6f8fa;stroke:#57606a;rx:4}.test{stroke-dasharray:4 3}"
    ".edge{fill:none;stroke:#8c959f;stroke-width:1.2;opacity:.75}.loop{stroke:#bc4c00}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.box{fill:#161b22;stroke:#8b949e}.edge{stroke:#6e7681}"
    ".loop{stroke:#f0883e}}"
)


def svg(nodes: Sequence[ModuleNode], title: str) -> str:
    """A whole SVG document; an import that closes a circle is drawn in another colour."""
    names, edges, tests = _boxes(nodes)
    columns = _columns(names, edges)
    places: dict[str, tuple[float, float, float]] = {}
    x, height = float(_MARGIN), 0.0
    for column in columns:
        width = max(len(name) for name in column) * _LETTER + 20
        for row, name in enumerate(column):
            places[name] = (x, 56 + row * _ROW, width)
        height = max(height, 56.0 + len(column) * _ROW)
        x += width + _GAP
    layer = {name: number for number, column in enumerate(columns) for name in column}
    parts = [
        _edge(places[a], places[b], count, layer[a] >= layer[b], f"{a} → {b}")
        for (a, b), count in sorted(edges.items())
    ]
    parts += [_box(name, places[name], name in tests) for name in names]
    wide, high = max(x - _GAP + _MARGIN, 320), height + _MARGIN
    heading = f"{title}: {len(nodes)} modules" + (f" in {len(names)} folders" if len(names) < len(nodes) else "")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {high:.0f}" width="{wide:.0f}"'
        f' height="{high:.0f}" role="img"><title>{escape(heading)}</title><style>{_STYLE}</style>'
        '<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 8 4 0 8z" fill="#8c959f"/></marker></defs>'
        f'<text x="{_MARGIN}" y="30" font-weight="bold">{escape(heading)}</text>{"".join(parts)}</svg>\n'
    )


def _boxes(nodes: Sequence[ModuleNode]) -> tuple[list[str], Mapping[tuple[str, str], int], set[str]]:
    """Names of boxes, imports between them with their number, and boxes that hold tests only."""
    deepest = max((node.path.count("/") for node in nodes), default=0)
    group = {node.path: node.path for node in nodes}
    depth = deepest
    while len(set(group.values())) > _MOST_BOXES and depth > 0:
        group = {node.path: _folder(node.path, depth) for node in nodes}
        depth -= 1
    kept = [name for name, _ in Counter(group.values()).most_common(_MOST_BOXES)]
    edges: Counter[tuple[str, str]] = Counter()
    for node in nodes:
        for target in node.imports_files:
            a, b = group[node.path], group[target]
            if a != b and a in kept and b in kept:
                edges[a, b] += 1
    open_boxes = {group[node.path] for node in nodes if not node.is_test}
    return sorted(kept), edges, set(kept) - open_boxes


def _folder(path: str, depth: int) -> str:
    return "/".join(path.split("/")[:-1][:depth]) + "/"


def _columns(names: Sequence[str], edges: Mapping[tuple[str, str], int]) -> list[list[str]]:
    """Layers: a box stands right of those that import it, as far as circles allow."""
    layer = dict.fromkeys(names, 0)
    for _ in range(min(len(names), 12)):
        moved = False
        for a, b in sorted(edges):
            if layer[b] <= layer[a] < 12 and (b, a) not in edges:
                layer[b] = layer[a] + 1
                moved = True
        if not moved:
            break
    used = sorted(set(layer.values()))
    return [[name for name in names if layer[name] == number] for number in used]


def _box(name: str, place: tuple[float, float, float], is_test: bool) -> str:
    x, y, width = place
    kind = "box test" if is_test else "box"
    return (
        f'<g><title>{escape(name)}</title><rect class="{kind}" x="{x:.0f}" y="{y:.0f}" width="{width:.0f}"'
        f' height="{_BOX_HEIGHT}"/><text x="{x + 10:.0f}" y="{y + 17:.0f}">{escape(name)}</text></g>'
    )


def _edge(
    start: tuple[float, float, float], end: tuple[float, float, float], count: int, is_back: bool, said: str
) -> str:
    middle = _BOX_HEIGHT / 2
    if is_back:
        x1, y1, x2, y2 = start[0], start[1] + middle, end[0] + end[2], end[1] + middle
        bend = -60
    else:
        x1, y1, x2, y2 = start[0] + start[2], start[1] + middle, end[0], end[1] + middle
        bend = 45
    kind = "edge loop" if is_back else "edge"
    times = f" ({count} imports)" if count > 1 else ""
    return (
        f'<path class="{kind}" marker-end="url(#end)" d="M{x1:.0f} {y1:.0f}C{x1 + bend:.0f} {y1:.0f} {x2 - bend:.0f}'
        f' {y2:.0f} {x2:.0f} {y2:.0f}"><title>{escape(said + times)}</title></path>'
    )
