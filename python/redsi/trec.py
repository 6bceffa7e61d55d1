"""Runs and judgments, as ir_measures and PyTerrier take them."""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Tuple
from urllib.parse import unquote

from . import frames
from .errors import Damaged

_FIELD = re.compile(r"[^ \t-\r]+")

Lines = Callable[[], Iterable[str]]


class ScoredDoc(NamedTuple):
    """A document in a ranking, with the members that ir_measures reads."""

    query_id: str
    doc_id: str
    score: float


class Qrel(NamedTuple):
    """A judgment, with the members that ir_measures reads."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class Names:
    """The names of documents and queries outside redsi, by their numbers."""

    def __init__(self, documents: Iterable[Mapping[str, Any]] = (), queries: Iterable[Mapping[str, Any]] = ()) -> None:
        self.documents: Dict[str, str] = {str(d["doc"]): d["key"] for d in documents}
        self.queries: Dict[str, str] = {str(q["example_id"]): q["name"] for q in queries if q.get("name")}


class Run:
    """A TREC run: an iterable of ScoredDoc, best first for each query.

    A hypothesis that is not an identifier is ``!POSITION:TEXT`` in runs of models. Scores are such
    that equal ones do not exist within a query, so trec_eval ranks as the run does."""

    def __init__(self, lines: Lines, names: "Names | None" = None) -> None:
        self._lines, self._names = lines, names or Names()

    def rows(self) -> Iterator[Tuple[str, str, float, int]]:
        """Query, document, score and rank from 0."""
        docs, queries = self._names.documents, self._names.queries
        for i, fields in _rows(self._lines()):
            try:
                query, _, doc, rank, score, _ = fields
                query, doc = unquote(query), unquote(doc)
                row = queries.get(query, query), docs.get(doc, doc), float(score), int(rank) - 1
            except ValueError as err:
                raise Damaged(f"line {i} of the run: {err}") from None
            yield row

    def __iter__(self) -> Iterator[ScoredDoc]:
        return (ScoredDoc(q, d, s) for q, d, s, _ in self.rows())

    def frame(self) -> Any:
        """The columns of PyTerrier: qid, docno, score, rank (from 0)."""
        columns = _columns(self.rows(), 4)
        return frames.frame(dict(zip(("qid", "docno", "score", "rank"), columns)))

    def named(self, documents: Iterable[Mapping[str, Any]] = (), queries: Iterable[Mapping[str, Any]] = ()) -> "Run":
        """The same with the keys of documents and the names of queries in place of numbers."""
        return Run(self._lines, Names(documents, queries))


class Qrels:
    """Judgments: an iterable of Qrel."""

    def __init__(self, lines: Lines, names: "Names | None" = None) -> None:
        self._lines, self._names = lines, names or Names()

    def __iter__(self) -> Iterator[Qrel]:
        docs, queries = self._names.documents, self._names.queries
        for i, fields in _rows(self._lines()):
            try:
                query, iteration, doc, relevance = fields
                query, doc = unquote(query), unquote(doc)
                row = Qrel(queries.get(query, query), docs.get(doc, doc), int(relevance), iteration)
            except ValueError as err:
                raise Damaged(f"line {i} of the judgments: {err}") from None
            yield row

    def frame(self) -> Any:
        """The columns of PyTerrier: qid, docno, label."""
        columns = _columns(((q.query_id, q.doc_id, q.relevance) for q in self), 3)
        return frames.frame(dict(zip(("qid", "docno", "label"), columns)))

    def named(self, documents: Iterable[Mapping[str, Any]] = (), queries: Iterable[Mapping[str, Any]] = ()) -> "Qrels":
        """The same with the keys of documents and the names of queries in place of numbers."""
        return Qrels(self._lines, Names(documents, queries))


def _rows(lines: Iterable[str]) -> Iterator[Tuple[int, List[str]]]:
    """The fields of lines, by their number; comments and empty lines are none. As for trec_eval
    and redsi, only white space of ASCII stands between fields."""
    for i, line in enumerate(lines, 1):
        fields = _FIELD.findall(line)
        if fields and not line.startswith("#"):
            yield i, fields


def _columns(rows: Iterable[Tuple[Any, ...]], n: int) -> List[List[Any]]:
    columns: List[List[Any]] = [[] for _ in range(n)]
    for row in rows:
        for column, v in zip(columns, row):
            column.append(v)
    return columns
