"""The way back of a gradient as SVG."""

import html

_WIDTH, _HEIGHT, _GAP = 560, 40, 22


def _box(y, text, detail, color, is_trouble):
    fill, stroke = ("#fde8e8", "#c81e1e") if is_trouble else ("#ffffff", color)
    return (
        f'<rect x="10" y="{y}" width="{_WIDTH - 20}" height="{_HEIGHT}" rx="6" fill="{fill}" stroke="{stroke}" stroke-width="{2 if is_trouble else 1}"/>'
        f'<text x="22" y="{y + 17}" font-weight="bold" fill="{stroke}">{html.escape(text)}</text>'
        f'<text x="22" y="{y + 33}" fill="#555555">{html.escape(detail)}</text>'
    )


def _arrow(y, label, is_trouble):
    color = "#c81e1e" if is_trouble else "#777777"
    x = _WIDTH // 2
    return (
        f'<line x1="{x}" y1="{y}" x2="{x}" y2="{y + _GAP - 6}" stroke="{color}"/>'
        f'<path d="M{x - 4} {y + _GAP - 7} L{x + 4} {y + _GAP - 7} L{x} {y + _GAP} Z" fill="{color}"/>'
        f'<text x="{x + 10}" y="{y + 15}" fill="{color}">{html.escape(label)}</text>'
    )


def draw(report, index):
    """One trouble's path: each box an operation, each arrow a cotangent."""
    if not report.troubles:
        boxes = [("no trouble", report.name, False, "")]
    else:
        trouble = report.troubles[index]
        boxes = [(step[0], step[1], step[2], step[3]) for step in trouble.steps]
        boxes.append((f"gradient of {trouble.leaf}", trouble.kind, True, ""))
    height = len(boxes) * (_HEIGHT + _GAP)
    parts, y, bad = [], 6, False
    for at, (text, detail, is_trouble, label) in enumerate(boxes):
        parts.append(_box(y, text, detail, "#1f4e8c", is_trouble))
        y += _HEIGHT
        bad = bad or is_trouble
        if at + 1 < len(boxes):
            parts.append(_arrow(y, label, bad))
            y += _GAP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}" '
        f'font-family="monospace" font-size="12">{"".join(parts)}</svg>'
    )
