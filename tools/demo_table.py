"""The live table of the demo: nodes redrawn in place, or plain lines without a terminal."""

import sys
import time

COLUMNS = (
    "NODE", "STATE", "STEP", "SAMPLES", "LOSS", "ACCURACY", "LINKS", "SENT", "DISTANCE")


def human_bytes(count):
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return ""


def shown(value, form):
    return "-" if value is None else format(value, form)


class Table:
    """The four nodes, redrawn in place on a terminal; a plain line now and then elsewhere."""

    def __init__(self, quiet):
        self.is_live = sys.stderr.isatty() and not quiet
        self.drawn = 0
        self.said_at = 0.0

    def show(self, members, job, seconds):
        rows = [COLUMNS] + [self.row(name, member) for name, member in members]
        ratio = job.get("progress_ratio") or 0
        if not self.is_live:
            if time.monotonic() - self.said_at < 5:
                return
            self.said_at = time.monotonic()
            nodes = "  ".join(f"{r[0]} step {r[2]} loss {r[4]}" for r in rows[1:])
            line = f"{seconds:4.0f} s  {job.get('state'):9}  {100 * ratio:3.0f} %  {nodes}"
            print(f"demo: {line}", file=sys.stderr, flush=True)
            return
        widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)) for row in rows]
        bar = "#" * int(40 * ratio)
        left = job.get("time_left_seconds")
        tail = f"{left:.0f} s left" if left else job.get("state", "")
        lines.append(f"[{bar:40}] {100 * ratio:3.0f} %  {seconds:.0f} s  {tail}")
        if self.drawn:
            sys.stderr.write(f"\x1b[{self.drawn}A")
        sys.stderr.write("".join(f"\x1b[2K{line}\n" for line in lines))
        sys.stderr.flush()
        self.drawn = len(lines)

    @staticmethod
    def row(name, m):
        if m is None:
            return (name,) + ("-",) * (len(COLUMNS) - 1)
        accuracy = m.get("accuracy")
        return (
            name, m["state"], str(m["steps"]), str(m["samples"]), shown(m.get("train_loss"), ".3f"),
            "-" if accuracy is None else f"{100 * accuracy:.2f} %", shown(m.get("peers"), "d"),
            human_bytes(m.get("bytes_sent") or 0), shown(m.get("distance_ratio"), ".5f"))
