package view

import (
	"io"
	"strings"

	"github.com/redsi/redsi/internal/sharing/publish"
	"github.com/redsi/redsi/internal/system/shellwords"
	"github.com/redsi/redsi/internal/system/words"
)

// Publication prints what was published, what was left out, and what readers need.
func Publication(w io.Writer, pub *publish.Publication, hint func(verb string, args ...string) string) {
	verb := "published"
	if pub.DryRun {
		verb = "would publish"
	}
	done := pub.Done
	Printf(w, "%s %s and %s in %s: %s (%d were there), %s of %s\n", verb, Count(pub.Tables, "table"), Count(pub.Figures, "figure"), pub.Folder,
		Count(done.Results, "result"), done.There, Count(done.Blobs, "blob"), Size(done.Bytes))
	var fetched, lost int64
	n := 0
	for _, l := range pub.Left {
		if l.URL != "" {
			fetched += l.Size
			n++
			Printf(w, "left out  %s  %s of %s: readers fetch it from %s\n", Size(l.Size), l.Name, l.Step, l.URL)
			continue
		}
		lost += l.Size
		Printf(w, "left out  %s  %s of %s: readers have to rebuild it\n", Size(l.Size), l.Name, l.Step)
	}
	if len(pub.Left) > 1 {
		Printf(w, "left out  %s in all, of which readers fetch %s\n", Size(fetched+lost), Size(fetched))
	}
	for _, s := range words.First(pub.Must, publish.MustShown, func(n int) { Printf(w, "          and %s more; --json lists all\n", Count(n, "step")) }) {
		Printf(w, "missing    %s: readers have to run it, or steps before it\n", s)
	}
	switch {
	case pub.DryRun:
	case pub.Signer == "":
		Printf(w, "not signed: readers must give --untrusted use or verify; make a key with `%s` and publish again to sign\n", hint("key new"))
	default:
		Printf(w, "signed by %s: readers give --trust %s\n", pub.Signer, shellwords.Quote(pub.Signer))
	}
	if pub.Rebuilt != "" {
		Printf(w, "%s\n", pub.Rebuilt)
	}
	if len(pub.Hosts) > 0 {
		Printf(w, "the records name %s that made them: %s\n", Count(len(pub.Hosts), "machine"), strings.Join(pub.Hosts[:min(3, len(pub.Hosts))], ", "))
	}
}
