"""Columns as a pandas DataFrame if pandas is installed, else as a pyarrow Table."""

from __future__ import annotations

import re
from typing import Any, Dict, Iterable, List, Mapping, Optional

_TAG = re.compile(r"</?(?:b|i|tt|sc|sub|sup)>")


def frame(columns: Mapping[str, List[Any]], attrs: Optional[Dict[str, Any]] = None) -> Any:
    """A DataFrame with ``attrs``, or a Table, whose metadata has those of them that are texts."""
    try:
        import pandas
    except ImportError:
        import pyarrow

        table = pyarrow.table(dict(columns))
        texts = {k: v for k, v in (attrs or {}).items() if isinstance(v, str)}
        return table.replace_schema_metadata(texts) if texts else table

    def whole(values: List[Any]) -> Any:  # of a column with gaps pandas makes floats, of 53 bits
        large = None in values and any(isinstance(v, int) and abs(v) > 2**53 for v in values)
        return pandas.Series(values, dtype=object) if large else values

    made = pandas.DataFrame({n: whole(v) for n, v in columns.items()})
    made.attrs.update(attrs or {})
    return made


def of_rows(rows: Iterable[Mapping[str, Any]]) -> Any:
    """A frame of JSON objects; a member that some lack is None there."""
    listed = list(rows)
    names: Dict[str, None] = {}
    for row in listed:
        names.update(dict.fromkeys(row))
    return frame({n: [row.get(n) for row in listed] for n in names})


_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?\Z", re.ASCII | re.IGNORECASE)


def numbers(texts: List[str]) -> List[Any]:
    """Texts as numbers, if all that say something are; else, such as 007, as they are."""
    found = [_NUMBER.match(t) for t in texts if t]
    if not found or not all(found):
        return list(texts)
    whole = all(m and not m.group(1) and not m.group(2) for m in found)
    return [None if not t else int(t) if whole else float(t) for t in texts]


def plain(text: str) -> str:
    """A text without markup."""
    return _TAG.sub("", text)


def table(value: Dict[str, Any]) -> Any:
    """The JSON of a table: a row for each row of values, by id, with the titles under the
    headers of the stubs and the values, not rounded or scaled, under the ids of the columns.
    ``ID.std`` and ``ID.n`` follow where a value has a deviation over seeds."""
    rows = [r for r in value["rows"] if r.get("titles") is not None]
    columns: Dict[str, List[Any]] = {"row": [r.get("id", "") for r in rows]}
    for i, stub in enumerate(value["stubs"] or []):
        name = plain(stub)
        while name in columns:
            name += "_"
        columns[name] = [plain(r["titles"][i]) if i < len(r["titles"]) else "" for r in rows]
    for column in value["columns"]:
        cells = [(r.get("cells") or {}).get(column["id"], {}) for r in rows]
        values = [_value(c, column) for c in cells]
        if any(isinstance(v, str) for v in values):  # one type a column
            values = [v if v is None or isinstance(v, str) else repr(v) for v in values]
        elif any(isinstance(v, float) for v in values):
            values = [v if v is None else float(v) for v in values]
        columns[column["id"]] = values
        if any("std" in c for c in cells):
            columns[column["id"] + ".std"] = [c.get("std") for c in cells]
            columns[column["id"] + ".n"] = [c.get("n") for c in cells]
    attrs = {k: value[k] for k in ("paper", "caption", "scale") if value.get(k)}
    attrs["columns"] = {c["id"]: plain(c["title"]) for c in value["columns"]}
    return frame(columns, attrs)


def _value(cell: Dict[str, Any], column: Dict[str, Any]) -> Any:
    if "typed" in cell:  # the value as its file has it
        text = (cell.get("format") or column["format"])["style"] == "text"
        return cell["typed"] if text else int(cell["typed"])
    if "value" in cell:
        return cell["value"]
    text = cell.get("text")
    if text is None:
        return None
    return text if cell.get("data") else plain(text)


def _number(point: Dict[str, Any]) -> Any:
    return int(point["typed"]) if "typed" in point else point.get("value")


def figure(value: Dict[str, Any]) -> Any:
    """The JSON of a figure: a row for each point of its series."""
    names = ("series", "point", "x", "y", "x.std", "y.std")
    columns: Dict[str, List[Any]] = {n: [] for n in names}
    for series in value.get("series") or []:
        for point in series.get("points") or []:
            x, y = point.get("x") or {}, point.get("y") or {}
            row = (series["id"], point["id"], _number(x), _number(y), x.get("std"), y.get("std"))
            for name, v in zip(names, row):
                columns[name].append(v)
    attrs = {k: value[k] for k in ("paper", "caption", "scale") if value.get(k)}
    return frame(columns, attrs)
