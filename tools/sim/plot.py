#!/usr/bin/python3
"""Draws what `p2psim run|compare --curves` has written: four SVG pictures of one stage.

    tools/sim/plot.py FILE.jsonl -o DIR [--target RATIO] [--png]

accuracy-time.svg, accuracy-megabytes.svg (a node, logarithmic), accuracy-samples.svg and
distance-time.svg (logarithmic). Time is on a logarithmic axis, too, where the recipes take very
different times. A line is the median of a recipe's seeds, the band behind it reaches from the least
to the most of them; a line ends where the first of its seeds ends. Running is p2psim's, and tables
are printed there. Needs python3-matplotlib and python3-numpy.
"""

import argparse
import json
import sys
from pathlib import Path

SCHEMA = "p2psim.curve/1"
# Told apart by most eyes: Okabe and Ito, "Color Universal Design" (2008), less its yellow.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#777777")
DASHES = ("-", (0, (5, 2)), (0, (1.5, 1.5)))
POINTS = 200
WIDE = 6
LABEL_POINTS = 9.5


class Unreadable(Exception):
    """The file is not what p2psim has written; the text says where."""


def read_curves(path):
    """{recipe: {seed: {figure: [value of each look]}}}, recipes in the order of the file."""
    curves = {}
    stage = None
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        try:
            point = json.loads(line)
            if point["schema"] != SCHEMA:
                raise Unreadable(f"{path}, line {number}: {point['schema']} is not {SCHEMA}")
            stage = stage or point["stage"]
            seed = curves.setdefault(point["recipe"], {}).setdefault(point["seed"], {})
            for figure in ("seconds", "megabytes", "samples", "accuracy_ratio", "distance_ratio"):
                seed.setdefault(figure, []).append(float(point[figure]))
        except (ValueError, KeyError, TypeError) as error:
            raise Unreadable(f"{path}, line {number}: no curve's point ({error})") from error
    if not curves:
        raise Unreadable(f"{path}: there is no point in it")
    return stage, curves


def band(numpy, seeds, along, figure, is_log):
    """x [points], and least, median and most [points] over seeds; None where nothing can be shown:
    x never leaves 0 on a logarithmic axis, or the distance never does."""
    lines = []
    for seed in seeds.values():
        x, y = numpy.array(seed[along]), numpy.array(seed[figure])
        kept = x > 0 if is_log else numpy.ones(len(x), dtype=bool)
        x, first = numpy.unique(x[kept], return_index=True)
        if len(x) > 1:
            lines.append((x, y[kept][first]))
    if not lines:
        return None
    begin = max(x[0] for x, _ in lines)
    end = min(x[-1] for x, _ in lines)
    grid = (numpy.geomspace if is_log else numpy.linspace)(begin, end, POINTS)
    values = numpy.array([numpy.interp(grid, x, y) for x, y in lines])
    if figure == "distance_ratio":  # on a logarithmic axis: zero is no distance to show
        shown = numpy.median(values, axis=0) > 0
        if not shown.any():
            return None
        grid, values = grid[shown], values[:, shown]
    return grid, values.min(axis=0), numpy.median(values, axis=0), values.max(axis=0)


def spread(heights, gap, low, high):
    """Heights of labels, moved apart until each two are `gap` apart, all inside low and high."""
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    placed = [min(max(heights[i], low), high) for i in order]
    for i in range(1, len(placed)):
        placed[i] = max(placed[i], placed[i - 1] + gap)
    if placed and placed[-1] > high:
        placed[-1] = high
        for i in range(len(placed) - 2, -1, -1):
            placed[i] = min(placed[i], placed[i + 1] - gap)
    moved = [0.0] * len(heights)
    for i, height in zip(order, placed):
        moved[i] = height
    return moved


def limit_accuracy(axes, bands):
    """From where the lines part company to a little above the best: the climb is all alike."""
    ends = [median[-1] for _, _, median, _ in bands.values()]
    best = max(most.max() for _, _, _, most in bands.values())
    room = max(best - min(ends), 0.02)
    axes.set_ylim(max(0.0, min(ends) - 1.5 * room), best + 0.12 * room)
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.4g} %")


def limit_distance(axes, bands):
    """Decades that hold what is above zero, all but the last thousandth of it."""
    seen = [value for _, _, median, _ in bands.values() for value in median if value > 0]
    top = max(seen, default=1.0)
    axes.set_yscale("log")
    axes.set_ylim(max(min(seen, default=0.1), top / 1000) / 1.3, top * 1.5)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")


def limit_along(axes, bands):
    """On a logarithmic axis, from where the first line comes into sight."""
    bottom = axes.get_ylim()[0]
    first = min((grid[median >= bottom][0] for grid, _, median, _ in bands.values()
                 if (median >= bottom).any()), default=None)
    last = max(grid[-1] for grid, _, _, _ in bands.values())
    if first is not None and first < last:
        axes.set_xlim(first / 1.15, last * 1.15)


def is_wide(curves, along):
    """Whether the last looks of the recipes lie so far apart that a linear axis hides the short."""
    ends = [max(seed[along][-1] for seed in seeds.values()) for seeds in curves.values()]
    return max(ends) > WIDE * max(min(ends), 1e-9)


def label_ends(figure, axes, bands, colours):
    """Names at the right, each in its line's colour, joined to its end where it had to move."""
    figure.canvas.draw()
    to_axes = axes.transData + axes.transAxes.inverted()
    ends = {name: to_axes.transform((grid[-1], max(median[-1], 1e-300)))
            for name, (grid, _, median, _) in bands.items()}
    pixels = axes.get_window_extent().height
    gap = 1.35 * LABEL_POINTS * figure.dpi / 72 / pixels
    heights = spread([y for _, y in ends.values()], gap, 0.01, 0.99)
    for (name, (x, y)), height in zip(ends.items(), heights):
        axes.annotate(
            name, xy=(x, min(max(y, 0.0), 1.0)), xytext=(1.03, height), xycoords="axes fraction",
            textcoords="axes fraction", va="center", color=colours[name], fontsize=LABEL_POINTS,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colours[name], "lw": 0.6, "alpha": 0.6,
                        "shrinkA": 0, "shrinkB": 1})


def draw(pyplot, numpy, curves, picture):
    """One picture. `picture`: along, figure, heading, x_label, is_log, target."""
    bands = {}
    silent = []
    is_log = picture["is_log"] or is_wide(curves, picture["along"])
    for recipe, seeds in curves.items():
        one = band(numpy, seeds, picture["along"], picture["figure"], is_log)
        if one is None:
            silent.append(recipe)
        else:
            bands[recipe] = one
    figure, axes = pyplot.subplots(figsize=(9, 5), dpi=100)
    longest = max((len(name) for name in curves), default=0)
    right = max(0.55, 0.96 - 0.0085 * longest)
    figure.subplots_adjust(left=0.09, right=right, top=0.9, bottom=0.14)
    colours = {}
    for index, recipe in enumerate(curves):
        colours[recipe] = COLOURS[index % len(COLOURS)]
        if recipe in bands:
            grid, least, median, most = bands[recipe]
            axes.fill_between(grid, least, most, color=colours[recipe], alpha=0.15, lw=0)
            axes.plot(grid, median, color=colours[recipe], lw=1.6,
                      ls=DASHES[index // len(COLOURS) % len(DASHES)])
    if is_log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    if bands:
        (limit_accuracy if picture["figure"] == "accuracy_ratio" else limit_distance)(axes, bands)
        if is_log:
            limit_along(axes, bands)
    if picture["target"] and picture["figure"] == "accuracy_ratio":
        axes.axhline(picture["target"], color="#999999", lw=0.8, ls=(0, (4, 3)), zorder=0)
    finish(axes, picture, silent)
    if bands:
        label_ends(figure, axes, bands, colours)
    return figure


def finish(axes, picture, silent):
    """Title, names of the axes, a light grid; who has no line is named below."""
    axes.set_title(picture["heading"], loc="left", fontsize=11)
    note = f"   (no line: {', '.join(silent)})" if silent else ""
    axes.set_xlabel(picture["x_label"] + note)
    axes.grid(True, color="#e6e6e6", lw=0.7)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def pictures(stage, seeds, target):
    """Name -> what draw() takes."""
    of = f"{stage}, median of {seeds} seeds" if seeds > 1 else f"{stage}, one seed"
    accuracy = {"figure": "accuracy_ratio", "target": target, "is_log": False}
    return {
        "accuracy-time": {**accuracy, "along": "seconds", "x_label": "seconds",
                          "heading": f"Test accuracy against time: {of}"},
        "accuracy-megabytes": {**accuracy, "along": "megabytes", "is_log": True,
                               "x_label": "megabytes sent by a node",
                               "heading": f"Test accuracy against bytes: {of}"},
        "accuracy-samples": {**accuracy, "along": "samples", "x_label": "samples of the mesh",
                             "heading": f"Test accuracy against samples: {of}"},
        "distance-time": {"figure": "distance_ratio", "along": "seconds", "is_log": False,
                          "target": None, "x_label": "seconds",
                          "heading": f"Distance between replicas over their norm: {of}"},
    }


def main():
    """Exit codes as p2psim's: 0, 1 for what went wrong, 2 for what was asked wrongly."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("curves", help="what --curves has written")
    parser.add_argument("-o", "--output", default=".", help="folder for the pictures")
    parser.add_argument("--target", type=float, help="an accuracy (a ratio) to mark")
    parser.add_argument("--png", action="store_true", help="PNG beside each SVG")
    options = parser.parse_args()
    try:
        import matplotlib
        import numpy
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError as error:
        print(f"plot.py: {error}\n  next: apt-get install python3-matplotlib", file=sys.stderr)
        return 1
    try:
        stage, curves = read_curves(options.curves)
        Path(options.output).mkdir(parents=True, exist_ok=True)
    except (Unreadable, OSError) as error:
        print(f"plot.py: {error}\n  next: give a file of p2psim --curves", file=sys.stderr)
        return 2
    matplotlib.rcParams["svg.hashsalt"] = "p2psim"  # the same picture again is the same file
    seeds = max(len(each) for each in curves.values())
    for name, picture in pictures(stage, seeds, options.target).items():
        figure = draw(pyplot, numpy, curves, picture)
        for kind in ("svg", "png") if options.png else ("svg",):
            path = Path(options.output) / f"{name}.{kind}"
            figure.savefig(path, metadata={"Date": None} if kind == "svg" else None)
            print(path)
        pyplot.close(figure)
    return 0


if __name__ == "__main__":
    sys.exit(main())
