package render

import "strings"

// plainText returns a text without markup, its white space single blanks.
func plainText(s string) string { return plainSpace(Plain(s)) }

func plainSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// SameText compares a text of the paper, which may have markup, with a plain one: without markup, and with any white
// space as one blank. An … in the paper's text stands for text that it leaves out; a text that is cut says so in the same
// way. A minus may be typed as a hyphen.
func SameText(paper, rebuilt string) bool {
	hyphens := func(s string) string { return strings.ReplaceAll(s, "−", "-") }
	paper, rebuilt = hyphens(plainText(paper)), hyphens(plainSpace(rebuilt))
	pieces := strings.Split(paper, "…")
	if paper == rebuilt || len(pieces) == 1 {
		return paper == rebuilt
	}
	for i, piece := range pieces {
		piece = strings.TrimSpace(piece)
		at := strings.Index(rebuilt, piece)
		switch {
		case at < 0 || i == 0 && at > 0:
			return false
		case i == len(pieces)-1 && piece != "":
			return strings.HasSuffix(rebuilt, piece)
		}
		rebuilt = rebuilt[at+len(piece):]
	}
	return true
}
