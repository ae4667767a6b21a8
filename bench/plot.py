#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""usage: plot.py RESULTS.json OUT.svg

Draws what counting adds to a fork and an exit of a process, by the number of threads
that count as well, from the rows fork_extra_among and exit_extra_among.
"""
import json
import math
import sys

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 720, 420, 80, 40, 200, 60
CURVES = [
    ("fork_extra_among", "perf_events", "fork, perf_events", "#c04040", ""),
    ("exit_extra_among", "perf_events", "exit, perf_events", "#c04040", "6 4"),
    ("fork_extra_among", "perfctr", "fork, perfctr", "#2060c0", ""),
    ("exit_extra_among", "perfctr", "exit, perfctr", "#2060c0", "6 4"),
]


def main(results, out):
    with open(results, encoding="utf-8") as file:
        rows = json.load(file)
    curves = []
    for metric, side, label, color, dash in CURVES:
        points = [(row["counters"], row[side]) for row in rows
                  if row["metric"] == metric and row[side] is not None]
        if not points:
            sys.exit(f"plot.py: no rows {metric} in {results}: run all of the bench")
        curves.append((points, label, color, dash))
    xs = [x for points, *_ in curves for x, _ in points]
    most = max(y for points, *_ in curves for _, y in points)
    step = 10 ** math.floor(math.log10(most))
    top = math.ceil(most / step) * step

    def place(x, y):
        right = math.log10(x) / math.log10(max(xs))
        return (LEFT + right * (WIDTH - LEFT - RIGHT),
                HEIGHT - BOTTOM - max(y, 0) / top * (HEIGHT - TOP - BOTTOM))

    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
           'font-family="sans-serif" font-size="13">',
           '<rect width="100%" height="100%" fill="white"/>',
           f'<text x="{LEFT}" y="24">Instructions that four inherited counters add '
           'to a fork and to an exit</text>']
    for i in range(5):
        y = top * i / 4
        x0, py = place(1, y)
        svg.append(f'<line x1="{x0}" y1="{py:.1f}" x2="{WIDTH - RIGHT}" y2="{py:.1f}" stroke="#ddd"/>')
        svg.append(f'<text x="{LEFT - 8}" y="{py + 4:.1f}" text-anchor="end">{y:,.0f}</text>')
    for x in sorted(set(xs)):
        px, py = place(x, 0)
        svg.append(f'<text x="{px:.1f}" y="{py + 20:.1f}" text-anchor="middle">{x:,}</text>')
    svg.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 14}" text-anchor="middle">'
               'threads that count</text>')
    for i, (points, label, color, dash) in enumerate(curves):
        path = " ".join("{:.1f},{:.1f}".format(*place(x, y)) for x, y in points)
        style = f'stroke="{color}" stroke-width="2" stroke-dasharray="{dash}"'
        svg.append(f'<polyline points="{path}" fill="none" {style}/>')
        y = TOP + 24 * i
        svg.append(f'<line x1="{WIDTH - RIGHT + 15}" y1="{y}" x2="{WIDTH - RIGHT + 45}" y2="{y}" {style}/>')
        svg.append(f'<text x="{WIDTH - RIGHT + 52}" y="{y + 4}">{label}</text>')
    svg.append("</svg>")
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n".join(svg) + "\n")


main(*sys.argv[1:])
