"""Writes internal/corpora/serialize/testdata/random.jsonl.gz: random articles in NQ form
with the text that the Python peer (bench/peers/htmlnorm.py) makes of them.

    pip install -r ../../bench/peers/requirements-htmlnorm.txt
    python serialize_random.py T5_ALPHABET OUT.jsonl.gz [COUNT] [SEED]

A rerun writes the same bytes. The articles are well-formed (their markup nests),
since lxml and the HTML standard mend broken markup differently; broken markup has
its own test against golang.org/x/net/html.
"""
import gzip
import json
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench/peers"))
import htmlnorm  # noqa: E402

WORDS = """river stone 1984 Paris café “quoted” Dr. St. co-op U.S. 3.5 ½ x² ﬁre … naïve Ångström Москва 東京 e&#769;
&amp; &lt;tag&gt; &quot;so&quot; can&#39;t AT&amp;T caf&eacute; &mdash; 5&nbsp;km 10&#8202;m /ˈpær.ɪs/ [1] [note] [edit] [hide] (see) (a(b)c) so&shy;ft zero&#8203;width
born: C#3 100% – — ’s ``x'' ~ {y}""".split()


class Maker:
    def __init__(self, rng):
        self.r = rng
        self.budget = 120

    def pick(self, *choices):
        return self.r.choice(choices)

    def chance(self, p):
        return self.r.random() < p

    def inline(self, n=None):
        out = []
        for _ in range(self.r.randint(0, 6) if n is None else n):
            w = self.r.choice(WORDS)
            kind = self.r.random()
            if kind < 0.12:
                tag = self.pick("b", "i", "a", "span", "small", "sub", "sup")
                w = f"<{tag}>{w}{self.pick('', ' ')}</{tag}>"
            elif kind < 0.16:
                w = f'<a href="/wiki/x" title="a > b">{w}<b>{self.r.choice(WORDS)}</b></a>'
            elif kind < 0.19:
                w += self.pick("<!-- note -->", "<wbr>", "<br>", "<br />", "<img src='x' alt='a b'>")
            elif kind < 0.21:
                w += '<span class="mw-editsection">[<a>edit</a>]</span>'
            elif kind < 0.23:
                w += '<sup class="reference"><a href="#n">' + self.pick("[1]", "[ 2 ]") + "</a></sup>"
            out.append(w + self.pick(" ", " ", " ", "", "\n", "&nbsp;", ", ", ". "))
        return "".join(out)

    def flow(self, depth):
        self.budget -= 1
        kinds = ["p", "p", "ul", "ol", "dl", "table", "div", "text", "blockquote", "center", "navbox", "hr", "pre"]
        if depth == 0:
            kinds += ["h2", "h3", "h4", "infobox", "thumb"]
        kind = self.r.choice(kinds) if depth < 4 and self.budget > 0 else "p"
        if kind == "p":
            return f"<p>{self.inline()}</p>\n"
        if kind == "text":
            return self.inline()
        if kind in ("ul", "ol"):
            return self.list(kind, depth)
        if kind == "dl":
            return self.dl(depth)
        if kind == "table":
            return self.table(depth)
        if kind in ("div", "blockquote", "center"):
            return f"<{kind}>" + "".join(self.flow(depth + 1) for _ in range(self.r.randint(0, 3))) + f"</{kind}>\n"
        if kind == "pre":
            return f"<pre>{self.inline()}\n  {self.inline(1)}</pre>\n"
        if kind == "navbox":
            cls = self.pick("navbox", "ambox metadata", "vertical-navbox nowraplinks", "hatnote", "thumb tright")
            return f'<div class="{cls}">{self.inline()}<p>{self.inline()}</p></div>\n'
        if kind == "infobox":
            return f'<table class="{self.pick("infobox", "infobox vcard", "wikitable infobox_v2")}"><tr><th>a</th><td>b <p>x</p></td></tr></table>\n'
        if kind == "thumb":
            return f'<div class="thumb"><div class="thumbcaption">{self.inline()}</div></div>\n'
        if kind == "hr":
            return "<hr>\n"
        name = self.inline(2) if self.chance(0.93) else self.pick("See also", "Notes and  references:", "REFERENCES")
        return f'<{kind}><span class="mw-headline">{name}</span><span class="mw-editsection">[<a>edit</a>]</span></{kind}>\n'

    def list(self, kind, depth):
        start = self.pick("", "", f' start="{self.pick("3", "0", "-2", "x", "7b")}"') if kind == "ol" else ""
        out = []
        for _ in range(self.r.randint(0, 4)):
            body = self.inline()
            if depth < 4 and self.budget > 0 and self.chance(0.3):
                self.budget -= 1
                nested = self.pick(self.list, self.list, self.dl, self.table)
                body += (lambda a: nested("ul", depth + 1) if nested == self.list else nested(depth + 1))(0)
                body += self.inline() if self.chance(0.2) else ""
            out.append(f"<li>{body}</li>\n")
        return f"<{kind}{start}>\n" + "".join(out) + f"</{kind}>\n"

    def dl(self, depth):
        out = []
        for _ in range(self.r.randint(0, 5)):
            tag = self.pick("dt", "dd", "dd")
            body = self.inline()
            if tag == "dd" and depth < 4 and self.budget > 0 and self.chance(0.2):
                self.budget -= 1
                body += self.list("ul", depth + 1)
            out.append(f"<{tag}>{body}</{tag}>\n")
        return "<dl>" + "".join(out) + "</dl>\n"

    def table(self, depth):
        columns = self.r.randint(1, 5)
        rows = []
        style = self.pick("plain", "header", "header", "key", "mixed")
        for i in range(self.r.randint(0, 5)):
            cells, used = [], 0
            if self.chance(0.12):
                cells.append(f'<{self.pick("td", "th")} colspan="{columns}">{self.inline()}</td>'.replace("</td>", "") + "")
                tag = cells[-1][1:3]
                rows.append(f"<tr>{cells[-1]}</{tag}></tr>\n")
                continue
            while used < columns:
                tag = "td"
                if style == "header" and i < self.pick(1, 1, 2) or style == "key" and used == 0 or style == "mixed" and self.chance(0.4):
                    tag = "th"
                attrs = ""
                if self.chance(0.08):
                    attrs += f' rowspan="{self.pick(2, 3)}"'
                if self.chance(0.08):
                    attrs += ' colspan="2"'
                body = self.inline(self.r.randint(0, 3)) if self.chance(0.85) else ""
                if depth < 3 and self.budget > 0 and self.chance(0.06):
                    self.budget -= 1
                    body += self.pick(lambda: self.list("ul", depth + 2), lambda: self.table(depth + 2), lambda: f"<p>{self.inline()}</p>")()
                cells.append(f"<{tag}{attrs}>{body}</{tag}>" + self.pick("", "\n"))
                used += 1
            rows.append(f"<tr>{''.join(cells)}</tr>\n")
        caption = f"<caption>{self.inline()}</caption>" if self.chance(0.2) else ""
        body = "".join(rows)
        if self.chance(0.6):
            body = f"<tbody>{body}</tbody>"
        return f'<table class="wikitable">{caption}\n{body}</table>\n'

    def article(self):
        head = self.pick("", '<div id="siteNotice">Notice</div>', "<p>before</p>")
        title = self.pick("Title", "A <i>B</i> (c)", "Caf&eacute;", "Ab (ˈæb)")
        toc = '<div id="toc" class="toc"><h2>Contents</h2><ul><li>1 x</li></ul></div>' if self.chance(0.3) else ""
        ipa = f"<p>{self.inline(2)} (<span>/ˈpa/</span>) {self.inline(3)}</p>" if self.chance(0.3) else ""
        body = ipa + toc + "".join(self.flow(0) for _ in range(self.r.randint(1, 9)))
        return (f"<!DOCTYPE html><html><head><title>T - Wikipedia</title><style>p {{ a: b }}</style></head><body class=\"x\">{head}"
                f"<h1 id=\"firstHeading\">{title}</h1>\n{body}<script>if (a < b) {{ x() }}</script></body></html>")


TOKEN = re.compile(r"<!--.*?-->|<(?:script|style)\b.*?</(?:script|style)>|<sup class=\"reference\">.*?</sup>"
                   r"|<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>|(?P<text>&#?\w+;|[^\W_]+|[^\s\w]|_)", re.DOTALL)


def tokens(html):
    out, at, byte = [], 0, 0
    for m in TOKEN.finditer(html):
        byte += len(html[at:m.start()].encode())
        size = len(m.group().encode())
        at = m.end()
        if m.group("text") and m.group() != "&nbsp;" and m.group() != "&#8202;":
            out.append({"token": m.group(), "html_token": False, "start_byte": byte, "end_byte": byte + size})
        byte += size
    return out


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        alphabet = set(f.read())
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 300
    rng = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 20181220)
    with open(sys.argv[2], "wb") as f, gzip.GzipFile("", "wb", 9, f, 0) as out:
        for i in range(count):
            html = Maker(rng).article()
            record = {"example_id": i, "document_title": "T", "document_html": html, "document_tokens": tokens(html)}
            record["text"] = htmlnorm.serialize(record, alphabet)
            record["spans"] = [[t["start_byte"], t["end_byte"]] for t in record.pop("document_tokens")]
            out.write((json.dumps(record, ensure_ascii=False) + "\n").encode())


if __name__ == "__main__":
    main()
