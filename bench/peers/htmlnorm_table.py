"""The four table forms of HtmlNorm, on a dense grid (see htmlnorm.py)."""
import re


def lines(el, flat):
    """The lines of a table; flat gives the text of a cell on one line. An empty
    table has none."""
    grid = [row for row in layout(el, flat) if any(not cell[4] for _, cell in row)]
    if not grid:
        return []
    first = 0
    while first < len(grid) and (bare(grid[first]) or len(grid[first]) == 1 and grid[first][0][1][1]):
        first += 1
    end = first
    while end < len(grid) and len(grid[end]) > 1 and all(cell[1] for _, cell in grid[end]):
        end += 1
    if end == first or end == len(grid):
        first = end = 0
    heads = {}
    for row in grid[first:end]:
        for column, cell in row:
            if not cell[4]:
                for k in range(column, column + cell[2]):
                    heads.setdefault(k, []).append(cell[0])
    columns = len({column for row in grid if not bare(row) for column, _ in row})
    known = [texts_by_column(row) for row in grid[first:end]]
    out = []
    for i, row in enumerate(grid):
        if first <= i < end or end and i >= end and texts_by_column(row) in known:
            continue
        spanning = bare(row)
        if not spanning:
            row = [(c + k, cell) for c, cell in row for k in range(cell[2])]
        texts = [cell[0] for _, cell in row]
        if end and i >= end and not spanning:
            out.append(" ; ".join((" ".join(heads[c]) + ": " if c in heads else "") + cell[0] for c, cell in row))
        elif not end and columns == 2 and len(texts) > 1:
            out.append(texts[0] + ": " + " ; ".join(texts[1:]))
        else:
            out.append(" ; ".join(texts))
    return out


def layout(el, flat):
    """Per row its non-empty cells as (column, (text, th, width, element, repeated))."""
    groups = []
    for child in el.find_all(["tr", "thead", "tbody", "tfoot"], recursive=False):
        if child.name != "tr":
            groups.append(("group", child.find_all("tr", recursive=False)))
        elif groups and groups[-1][0] == "loose":
            groups[-1][1].append(child)
        else:
            groups.append(("loose", [child]))
    for _, rows in groups:
        pending = {}  # column -> (rows left, cell)
        for tr in rows:
            row, column, taken = {}, 0, set()
            for c, (left, cell) in list(pending.items()):
                row[c] = cell[:4] + (True,)
                taken.update(range(c, c + cell[2]))
                if left > 1:
                    pending[c] = (left - 1, cell)
                else:
                    del pending[c]
            for td in tr.find_all(["td", "th"], recursive=False):
                while column in taken:
                    column += 1
                width = span(td.get("colspan"), 1000)
                cell = (flat(td), td.name == "th", width, id(td), False)
                row[column] = cell
                height = span(td.get("rowspan"), 65534)
                if height > 1:
                    pending[column] = (height - 1, cell)
                column += width
            yield [(c, row[c]) for c in sorted(row) if row[c][0]]


def bare(row):
    """One cell that spans columns."""
    return len(row) == 1 and row[0][1][2] > 1


def texts_by_column(row):
    return [(column, cell[0]) for column, cell in row]


def span(value, most):
    m = re.match(r"\s*\+?(\d+)", value or "")
    return min(int(m.group(1)), most) or 1 if m else 1
