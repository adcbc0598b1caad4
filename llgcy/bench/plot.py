"""The distribution of mask times as an SVG picture: for each engine, the share of masks that took longer than a time, both axes logarithmic."""
from __future__ import annotations

import math
from html import escape

from llgcy.bench.report import Found, mask_times, passed_by_all, shown

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 150, 40, 50
COLOURS = ("#0b6e4f", "#c44900", "#3b5bdb", "#862e9c")


def plot(found: Found) -> str:
    """An SVG document of the masks of the cases that all engines pass."""
    cases = passed_by_all(found)
    times = {name: mask_times(runs, cases) for name, runs in found.items()}
    longest = max((len(ordered) for ordered in times.values()), default=0)
    if longest == 0:
        return _document(['<text x="20" y="40">No masks to show.</text>'])
    low = math.floor(math.log10(max(1, min(ordered[0] for ordered in times.values()))))
    high = max(low + 1, math.ceil(math.log10(max(ordered[-1] for ordered in times.values()))))
    decades = max(1, math.ceil(math.log10(longest)))

    def x(nanoseconds: float) -> float:
        return LEFT + (math.log10(max(nanoseconds, 1)) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(share: float) -> float:
        return TOP - math.log10(share) / decades * (HEIGHT - TOP - BOTTOM)

    parts = [f'<text x="{LEFT}" y="22" font-weight="bold">Share of masks that take longer</text>']
    for power in range(low, high + 1):
        at = x(10 ** power)
        parts.append(f'<line x1="{at:.1f}" y1="{TOP}" x2="{at:.1f}" y2="{HEIGHT - BOTTOM}" stroke="#ddd"/>')
        parts.append(f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{_round(10 ** power)}</text>')
    for power in range(decades + 1):
        at = y(10 ** -power)
        parts.append(f'<line x1="{LEFT}" y1="{at:.1f}" x2="{WIDTH - RIGHT}" y2="{at:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{_percent(power)}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 12}" text-anchor="middle">time of one mask and its token</text>')
    for number, (name, ordered) in enumerate(times.items()):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(f"{x(time):.1f},{y(share):.1f}" for time, share in _steps(ordered))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        at = TOP + 16 + 34 * number
        parts.append(f'<line x1="{WIDTH - RIGHT + 12}" y1="{at - 4}" x2="{WIDTH - RIGHT + 30}" y2="{at - 4}" stroke="{colour}" stroke-width="3"/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 36}" y="{at}">{escape(name)}</text>')
        parts.append(f'<text x="{WIDTH - RIGHT + 36}" y="{at + 14}" fill="#666">mean {shown(sum(ordered) / len(ordered))}</text>')
    return _document(parts)


def _steps(ordered: list[int], points: int = 200) -> list[tuple[int, float]]:
    """(time, share of masks that took that long or longer), close together where few are left."""
    n = len(ordered)
    ranks = sorted({min(n, max(1, round(n ** (1 - i / points)))) for i in range(points + 1)}, reverse=True)
    return [(ordered[n - rank], rank / n) for rank in ranks]


def _round(nanoseconds: int) -> str:
    for size, unit in ((10 ** 9, "s"), (10 ** 6, "ms"), (10 ** 3, "µs")):
        if nanoseconds >= size:
            return f"{nanoseconds // size} {unit}"
    return f"{nanoseconds} ns"


def _percent(power: int) -> str:
    """10 ** -power in percent."""
    return f"{100 // 10 ** power}%" if power <= 2 else f"{10.0 ** (2 - power):.{power - 2}f}%"


def _document(parts: list[str]) -> str:
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
                      'font-family="sans-serif" font-size="12">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', *parts, "</svg>", ""])
