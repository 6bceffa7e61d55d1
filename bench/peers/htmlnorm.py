"""HtmlNorm in Python with BeautifulSoup and lxml: the peer of internal/corpora/serialize.

    pip install -r requirements-htmlnorm.txt
    python htmlnorm.py RECORDS.jsonl[.gz] [--limit N] [--repeat N] [--out TEXTS.jsonl]
                       [--goldens DIR] [--alphabet t5-alphabet.txt]

It follows the same rules (the paper's appendix, with the default of each option)
in another way: every token's span is marked in the HTML with two private-use
characters before parsing, so that the parsed tree itself says which text is
NQ's, and tables are laid out on a dense grid. It prints one JSON line with the
time spent in serializing (reading JSON aside). --goldens compares the texts
with DIR/EXAMPLE_ID.htmlnorm.txt and prints a diff of each that differs.
"""
import argparse
import difflib
import gzip
import hashlib
import itertools
import json
import os
import re
import sys
import time
import unicodedata
from html.entities import html5
from importlib.metadata import version

from bs4 import BeautifulSoup, Comment, NavigableString

import htmlnorm_table

BEGIN, END = "\ue000", "\ue001"
PIECES = re.compile("\ue000|\ue001|[^\ue000\ue001]+")
BARE = re.compile("&([A-Za-z]+)(?![A-Za-z0-9;=])")
SPACE = re.compile(r"[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")

IDS = {"toc", "siteSub", "contentSub", "jump-to-nav", "siteNotice", "catlinks",
       "mw-navigation", "mw-head", "mw-panel", "footer"}
CLASSES = {"toc", "mw-editsection", "toctoggle", "mw-jump", "navbox", "vertical-navbox", "sidebar",
           "navbar", "ambox", "mbox-small", "tmbox", "metadata", "printfooter"}
FOOTERS = {"see also", "references", "further reading", "bibliography", "external links", "notes",
           "footnotes", "citations", "sources", "works cited", "contents", "notes and references"}
SECTIONS = ["h2", "h3", "h4", "h5", "h6"]
DEEP = {"h4", "h5", "h6"}  # NQ has no tokens for them: they neither begin nor empty a section
ENCLOSING = ["td", "th", "caption", "li", "dt", "dd"]
LISTS = {"ul", "ol", "menu", "dir", "dl"}
BLOCKS = LISTS | set(SECTIONS) | {
    "h1", "p", "table", "li", "dt", "dd", "caption", "thead", "tbody", "tfoot", "tr", "td", "th", "hr",
    "address", "article", "aside", "blockquote", "center", "details", "dialog", "div", "fieldset",
    "figcaption", "figure", "footer", "form", "header", "hgroup", "main", "nav", "pre", "listing",
    "section", "summary", "legend", "optgroup", "option", "search"}
ARTIFACT = re.compile(r"\[\s*(?:edit|hide)\s*\]", re.IGNORECASE)


class Line:
    """One line of text under the gap rule."""

    def __init__(self, state):
        self.state = state
        self.parts = []
        self.space = False

    def feed(self, string):
        state = self.state
        for piece in PIECES.findall(string):
            if piece == BEGIN:
                state.open = []
            elif piece == END:
                if state.open is not None:
                    self.token("".join(state.open))
                state.open = None
            elif state.open is not None:
                state.open.append(piece)
            elif SPACE.search(piece):
                self.space = True

    def token(self, text):
        text = SPACE.sub(" ", unicodedata.normalize("NFKC", text))
        text = "".join(c for c in text if unicodedata.category(c)[0] != "C")
        if self.space and self.parts:
            self.parts.append(" ")
        self.space = False
        self.parts.append(text)

    def text(self):
        s = SPACE.sub(" ", "".join(self.parts)).strip()
        if "[" in s:
            s = SPACE.sub(" ", ARTIFACT.sub("", s)).strip()
        return s


class Document:
    def __init__(self, html, tokens, title):
        self.open = None
        self.lines = []  # (newlines before it, text)
        self.gap = 0
        marked, at = [], 0
        for t in tokens:
            if t["html_token"]:
                continue
            s, e = t["start_byte"], t["end_byte"]
            marked += [html[at:s], b"\xee\x80\x80", html[s:e], b"\xee\x80\x81"]
            at = e
        marked.append(html[at:])
        # libxml2 takes "&eacute" without its semicolon for text; the standard does not
        whole = BARE.sub(lambda m: m[0] + ";" if m[1] in html5 else m[0], b"".join(marked).decode("utf-8"))
        self.soup = BeautifulSoup(whole, "lxml")
        self.prune()
        h1 = self.soup.find("h1")
        if h1 is not None:
            title = self.flat(h1) or title
        self.title = title

        self.h1 = h1
        self.started = h1 is None
        self.stopped = False
        self.line = Line(self)
        self.lead = []  # what comes behind the lead's paragraphs; None after the lead
        self.section = None  # lines and gap before a heading that has no text yet
        self.flow(self.soup.body or self.soup)
        self.end_lead()
        self.flush()
        self.end_section()

    def prune(self):
        soup = self.soup
        for el in soup.find_all(["script", "style", "iframe", "noembed", "noframes", "template"]):
            el.decompose()
        for el in soup.find_all(lambda e: e.name not in ("html", "body") and (
                e.get("id") in IDS or not CLASSES.isdisjoint(e.get("class", ())))):
            if el.decomposed:
                continue
            self.replace(el)
        h1, section = soup.find("h1"), None
        if h1 is not None:
            section = next((h for h in h1.find_all_next(SECTIONS) if not h.find_parent(ENCLOSING)), None)
        else:
            section = next((h for h in soup.find_all(SECTIONS) if not h.find_parent(ENCLOSING)), None)
        for table in soup.find_all("table", class_=re.compile("^infobox")) if section is None else \
                section.find_all_previous("table", class_=re.compile("^infobox")):
            if not table.decomposed:
                self.replace(table)

    def replace(self, el):
        """Removes an element; a block leaves its boundary."""
        if el.name in BLOCKS and el.name not in ("tr", "td", "th", "tbody", "thead", "tfoot", "caption"):
            el.replace_with(self.soup.new_tag("hr"))
        else:
            el.decompose()

    # Lines

    def need(self, n):
        self.gap = max(self.gap, n)

    def emit(self, text, prefix=""):
        if not text:
            return False
        self.section = None
        self.lines.append((max(1, self.gap), prefix + text))
        self.gap = 0
        return True

    def end_section(self):
        if self.section:
            size, self.gap = self.section
            del self.lines[size:]
            self.section = None

    def end_lead(self):
        blocks, self.lead = self.lead or [], None
        for c in blocks:
            self.block(c)

    def apart(self, write, c):
        """A list or a table stands between blank lines."""
        size, gap = len(self.lines), self.gap
        self.need(2)
        write(c, 0)
        if len(self.lines) > size:
            self.need(2)
        else:
            self.gap = gap

    def flush(self):
        self.emit(self.line.text())
        self.line = Line(self)

    def flat(self, el):
        line = Line(self)
        self.collect(el, line, None)
        return line.text()

    def collect(self, el, line, nested):
        for c in el.children:
            if isinstance(c, Comment):
                continue
            if isinstance(c, NavigableString):
                line.feed(str(c))
            elif c.name == "br":
                line.space = True
            elif c.name in BLOCKS:
                line.space = True
                if nested is not None and (c.name in LISTS or c.name == "table"):
                    nested.append(c)
                else:
                    self.collect(c, line, nested)
                line.space = True
            else:
                self.collect(c, line, nested)

    # Blocks

    def flow(self, el):
        for c in el.children:
            if self.stopped:
                return
            if isinstance(c, Comment):
                continue
            if isinstance(c, NavigableString):
                if self.started and self.lead is None:
                    self.line.feed(str(c))
                continue
            name = c.name
            if c is self.h1:
                self.started = True
                self.line = Line(self)
            elif not self.started:
                self.flow(c)
            elif self.lead is not None and name in ("table", *DEEP):
                self.stopped = name in DEEP and self.footer(c)
            elif self.lead is not None and (name in LISTS or name in ("li", "dt", "dd")):
                self.lead.append(c)
            elif name == "br":
                self.flush()
                self.need(1)
            elif name not in BLOCKS:
                self.flow(c)
            elif name == "p" and self.lead is not None:
                rest, self.lead = self.lead, None
                self.block(c)
                self.lead = rest
            else:
                self.block(c)

    def block(self, c):
        name = c.name
        if name == "h1" or name in SECTIONS:
            self.end_lead()
        self.flush()
        self.need(1)
        if name in SECTIONS:
            if self.footer(c):
                self.stopped = True
                return
            text = self.flat(c)
            if name not in DEEP:
                self.end_section()
            before = len(self.lines), self.gap
            self.need(2)
            if self.emit(text) and name not in DEEP:
                self.section = before
        elif name == "h1":
            self.emit(self.flat(c))
        elif name in LISTS:
            self.apart(self.list, c)
        elif name == "li":
            self.item(c, "- ", 0)
        elif name == "table":
            self.apart(self.table, c)
        else:
            self.flow(c)
            if self.stopped:
                return
            self.flush()
        self.need(1)

    def footer(self, heading):
        return " ".join(self.flat(heading).lower().split()).rstrip(":").strip() in FOOTERS

    def list(self, el, depth):
        if el.name == "dl":
            self.bare(self.definitions(el, depth, []), depth)
            return
        number = 1
        if el.name == "ol":
            m = re.match(r"\s*([+-]?\d+)", el.get("start", ""))
            number = int(m.group(1)) if m else 1
        for c in el.children:
            if isinstance(c, Comment):
                continue
            if isinstance(c, NavigableString):
                self.loose(c, depth)
            elif c.name == "li":
                self.item(c, f"{number}. " if el.name == "ol" else "- ", depth)
                number += 1
            elif c.name in LISTS:
                self.list(c, depth + 1)
            elif c.name == "table":
                self.table(c, depth + 1)
            elif c.name != "hr":
                self.item(c, "", depth)

    def loose(self, string, depth):
        line = Line(self)
        line.feed(str(string))
        self.need(1)
        self.emit(line.text(), "  " * depth)

    def item(self, el, marker, depth):
        line, nested = Line(self), []
        self.collect(el, line, nested)
        self.need(1)
        self.emit(line.text(), "  " * depth + marker)
        self.nested(nested, depth)

    def nested(self, nested, depth):
        for c in nested:
            (self.table if c.name == "table" else self.list)(c, depth + 1)

    def bare(self, terms, depth):
        for term in terms:
            self.need(1)
            self.emit(term, "  " * depth)
        terms.clear()

    def definitions(self, el, depth, terms):
        for c in el.children:
            if isinstance(c, Comment):
                continue
            if isinstance(c, NavigableString):
                self.loose(c, depth)
            elif c.name in ("dt", "dd"):
                line, nested = Line(self), []
                self.collect(c, line, nested)
                text = line.text()
                if c.name == "dt":
                    terms += [text] if text else []
                    if nested:
                        self.bare(terms, depth)
                elif text:
                    for term in terms or [None]:
                        self.need(1)
                        self.emit((term + ": " if term else "") + text, "  " * depth)
                    terms.clear()
                elif nested:
                    self.bare(terms, depth)
                self.nested(nested, depth)
            elif c.name in LISTS:
                self.bare(terms, depth)
                self.list(c, depth + 1)
            elif c.name in BLOCKS and c.name != "hr":
                self.definitions(c, depth, terms)
        return terms

    def table(self, el, depth):
        lines = htmlnorm_table.lines(el, self.flat)
        if not lines:
            return
        captions = [self.flat(c) for c in el.find_all("caption", recursive=False)]
        for line in captions + lines:
            self.need(1)
            self.emit(line, "  " * depth)

    def text(self):
        body = "".join("\n" * gap + line for gap, line in self.lines).lstrip("\n")
        return self.title + "\n" + body if self.title and body else self.title + body


def drop_pronunciation(text, alphabet):
    start = text.find("(", 0, 256)
    if start < 0:
        return text
    depth = 0
    for end in range(start, len(text)):
        depth += (text[end] == "(") - (text[end] == ")")
        if depth == 0:
            break
    else:
        return text
    end += 1
    inside = unicodedata.normalize("NFKC", text[start:end])
    if all(c.isspace() or c in alphabet for c in inside):
        return text
    if text[start - 1:start] in ("", "\n") and text[end:end + 1] in ("", "\n"):
        before, after = text[:start].rstrip("\n"), text[end:].lstrip("\n")
        newlines = max(start - len(before), len(text) - end - len(after)) if before and after else 0
        return before + "\n" * newlines + after
    if text[start - 1:start] == " ":
        start -= 1
    elif text[start - 1:start] in ("", "\n") and text[end:end + 1] == " ":
        end += 1
    return text[:start] + text[end:]


def serialize(record, alphabet):
    doc = Document(record["document_html"].encode("utf-8"), record["document_tokens"], record.get("document_title", ""))
    return drop_pronunciation(doc.text(), alphabet)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    p = argparse.ArgumentParser()
    p.add_argument("records")
    p.add_argument("--repeat", type=int, default=1)
    p.add_argument("--limit", type=int, help="read this many records only")
    p.add_argument("--out")
    p.add_argument("--goldens")
    p.add_argument("--alphabet", default=os.path.join(here, "../../internal/corpora/serialize/testdata/t5-alphabet.txt"))
    a = p.parse_args()
    with open(a.alphabet, encoding="utf-8") as f:
        alphabet = set(f.read())
    with (gzip.open if a.records.endswith(".gz") else open)(a.records, "rt", encoding="utf-8") as f:
        records = [json.loads(line) for line in itertools.islice(f, a.limit)]
    out = open(a.out, "w", encoding="utf-8") if a.out else None
    size = seconds = 0
    texts = hashlib.sha256()
    same = differ = 0
    for i in range(a.repeat):
        for r in records:
            start = time.perf_counter()
            text = serialize(r, alphabet)
            seconds += time.perf_counter() - start
            size += len(r["document_html"].encode("utf-8"))
            if i:
                continue
            texts.update(text.encode("utf-8") + b"\0")
            if out:
                out.write(json.dumps({"example_id": r["example_id"], "text": text}, ensure_ascii=False) + "\n")
            golden = a.goldens and os.path.join(a.goldens, f"{r['example_id']}.htmlnorm.txt")
            if golden and os.path.exists(golden):
                with open(golden, encoding="utf-8") as f:
                    want = f.read()
                if want == text:
                    same += 1
                else:
                    differ += 1
                    sys.stdout.writelines(difflib.unified_diff(want.split("\n"), text.split("\n"), golden, "python", n=0, lineterm="\n"))
    if out:
        out.close()
    n = len(records) * a.repeat
    print(json.dumps({"is": f"BeautifulSoup {version('beautifulsoup4')} and lxml {version('lxml')}", "records": n, "html_bytes": size, "seconds": round(seconds, 4), "work": size,
                      "check": f"{len(records)} texts, sha256 {texts.hexdigest()[:16]}",
                      "ms_per_record": round(1000 * seconds / n, 3), "same": same, "differ": differ}))


if __name__ == "__main__":
    main()
