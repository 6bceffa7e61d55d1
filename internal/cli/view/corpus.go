package view

import (
	"io"

	"github.com/redsi/redsi/internal/corpora/collect"
	"github.com/redsi/redsi/internal/pipeline/starter"
	"github.com/redsi/redsi/internal/system/shellwords"
	"github.com/redsi/redsi/internal/system/words"
)

// wroteShown is how many files of a new study are named one by one.
const wroteShown = 20

// Wrote prints the files of a new study, and the command that comes next.
func Wrote(w io.Writer, wrote []string, dir, next string) {
	if len(wrote) > wroteShown {
		Printf(w, "wrote %s into %s\n", Count(len(wrote), "file"), dir)
		wrote = nil
	}
	for _, file := range wrote {
		Printf(w, "wrote %s\n", file)
	}
	if dir != "." {
		next = "cd " + shellwords.Quote(dir) + " && " + next
	}
	Printf(w, "next: %s\n", next)
}

// Corpus prints what a corpus has, and where its splits come from.
func Corpus(w io.Writer, c *starter.Corpus) {
	for _, f := range c.Files {
		as := map[collect.Role]string{collect.Documents: "documents", collect.Queries: "queries", collect.Judgments: "judgments"}[f.Role]
		if f.Split != "" {
			as = string(f.Split) + " " + as
		}
		Printf(w, "found %s: %d %s (%s)\n", f.Name, f.Records, as, f.Format)
	}
	Printf(w, "%s", Count(int(c.Documents.Union), "document"))
	if n := c.Documents.Untitled; n > 0 {
		Printf(w, ", %d without a title", n)
	}
	if n := c.Documents.Empty; n > 0 {
		Printf(w, ", %d without words", n)
	}
	Printf(w, "\n")
	for _, s := range collect.Splits() {
		r := c.Questions.Of(s)
		Printf(w, "%d %s %s with %s", r.Asked, s, words.Of(int(r.Asked), "query", "queries"), Count(int(r.Judgments), "judgment"))
		if r.Several > 0 {
			Printf(w, ", %d of them with several documents", r.Several)
		}
		if r.InTrain > 0 {
			Printf(w, ", %d with the words of a train query", r.InTrain)
		}
		Printf(w, "\n")
	}
	if n := c.Questions.Unjudged; n > 0 {
		Printf(w, "left out, without a relevant document: %d %s\n", n, words.Of(int(n), "query", "queries"))
	}
	Printf(w, "splits: %s\n", c.Splits)
}
