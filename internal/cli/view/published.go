package view

import (
	"io"
	"strings"

	"github.com/redsi/redsi/internal/sharing/files"
	"github.com/redsi/redsi/internal/system/words"
)

// keptShown bounds the files that are named as somebody's own.
const keptShown = 5

// Published prints a line for each publish block.
func Published(w io.Writer, list []files.Published) {
	for _, p := range list {
		if len(p.Waits) > 0 {
			Printf(w, "publish %s  nothing is written: %s %s no result\n", p.Name, words.And(p.Waits, keptShown), words.Of(len(p.Waits), "has", "have"))
			continue
		}
		Printf(w, "publish %s  %s: %s", p.Name, p.To, strings.Join(append([]string{Count(p.Files, "file")}, words.Counts(words.Number{N: p.Written, Of: "written"}, words.Number{N: p.Removed, Of: "removed"})...), ", "))
		if n := len(p.Kept); n > 0 {
			Printf(w, "; %d %s, changed by somebody else than redsi: %s. Move or remove %s to have redsi's", n, words.Of(n, "is left as it is", "are left as they are"), words.And(p.Kept, keptShown), words.Of(n, "it", "them"))
		}
		Printf(w, "\n")
	}
}
