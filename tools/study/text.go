package main

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

// walk visits the elements below n and n, as long as visit says to go below.
func walk(n *html.Node, visit func(*html.Node) bool) {
	if n.Type == html.ElementNode && !visit(n) {
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		walk(c, visit)
	}
}

func attr(n *html.Node, name string) string {
	if n.Type == html.ElementNode {
		for _, a := range n.Attr {
			if a.Key == name {
				return a.Val
			}
		}
	}
	return ""
}

func hasClass(n *html.Node, names ...string) bool {
	for _, c := range strings.Fields(attr(n, "class")) {
		if slices.Contains(names, c) {
			return true
		}
	}
	return false
}

// ownText is what a unit says below its heading, without the units within it, lists of
// contents and what leads to other pages.
func ownText(unit *html.Node) string {
	var b strings.Builder
	for c := unit.FirstChild; c != nil; c = c.NextSibling {
		writeText(&b, c, func(n *html.Node) bool {
			return !hasClass(n, append(unitClasses, "titlepage", "toc", "navheader", "navfooter")...)
		})
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func textOf(n *html.Node) string {
	var b strings.Builder
	writeText(&b, n, func(*html.Node) bool { return true })
	return strings.Join(strings.Fields(b.String()), " ")
}

// inline elements do not part words.
var inline = []string{"a", "b", "code", "em", "i", "span", "strong", "sub", "sup", "tt", "u"}

func writeText(b *strings.Builder, n *html.Node, take func(*html.Node) bool) {
	switch n.Type {
	case html.TextNode:
		b.WriteString(n.Data)
		return
	case html.ElementNode:
		if !take(n) {
			return
		}
	default:
		return
	}
	parts := !slices.Contains(inline, n.Data)
	if parts {
		b.WriteByte(' ')
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		writeText(b, c, take)
	}
	if parts {
		b.WriteByte(' ')
	}
}

var noWord = regexp.MustCompile(`[^\pL\pN_]+`)

// fold is a text's normal form: its words in lower case.
func fold(s string) string {
	return strings.TrimSpace(noWord.ReplaceAllString(strings.ToLower(s), " "))
}

func words(s string) []string { return strings.Fields(fold(s)) }

// isCode reports whether a word is written as only code is: with an underscore or a digit
// in it, in capitals, or with a capital behind a small letter.
func isCode(word string) bool {
	letters := []rune(word)
	upper := 0
	for i, r := range letters {
		switch {
		case r == '_' || r == '$' || r == '(' || unicode.IsDigit(r):
			return true
		case unicode.IsUpper(r):
			upper++
			if i > 0 && unicode.IsLower(letters[i-1]) {
				return true
			}
		}
	}
	return upper > 1 && upper == len(letters)
}
