package view

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/sharing/hub"
	"github.com/redsi/redsi/internal/sharing/pack"
	"github.com/redsi/redsi/internal/system/shellwords"
	"github.com/redsi/redsi/internal/system/words"
)

// Exported prints what is in an archive; run is the command that makes what it lacks.
func Exported(w io.Writer, x *pack.Exported, run string) {
	Printf(w, "%s  %s, %s: %s of %s, %s of %s, %s of the pipeline\n", x.Archive, Size(x.Size), x.Digest, Count(x.Results, "result"),
		Count(x.Steps, "step"), Count(x.Blobs, "blob"), Size(x.Bytes), Count(x.Files, "file"))
	if x.Signer != "" {
		Printf(w, "signed by %s\n", x.Signer)
	} else {
		Printf(w, "not signed: a reader cannot tell who made it\n")
	}
	for _, l := range words.First(x.LeftOut, pack.MostNamed, func(n int) { Printf(w, "%d more steps have files left out: --json lists all\n", n) }) {
		where := "a reader runs it again"
		if from := l.Fetched(); from != "" {
			where = "a reader fetches it from " + from
		}
		Printf(w, "left out: %s of %s, %s; %s\n", Count(l.Blobs, "file"), l.Step, Size(l.Bytes), where)
	}
	if n := len(x.Missing); n > 0 {
		Printf(w, "%s %s no result and are not in it: %s\n", Count(n, "step"), words.Of(n, "has", "have"), run)
	}
	for _, n := range x.Notes {
		Printf(w, "note: %s\n", n)
	}
	if len(x.Upload) > 0 {
		Printf(w, "%s  metadata for Zenodo; to upload a draft, with a token in ZENODO_TOKEN:\n", x.Deposit)
		for _, c := range x.Upload {
			Printf(w, "  %s\n", c)
		}
	}
}

// Imported prints what an archive had, whose it is, and how to go on.
func Imported(w io.Writer, x *pack.Imported, hint func(verb string, args ...string) string) {
	Printf(w, "%s  %s, %s (%d were there), %s of %s\n", x.Given, Count(x.Files, "file"), Count(x.Results, "result"), x.There, Count(x.Blobs, "blob"), Size(x.Bytes))
	switch {
	case x.Signer == "":
		Println(w, "not signed: anybody may have made it; check it with redsi verify --rebuild")
	case x.Trusted:
		Printf(w, "signed by %s, whose key you trust\n", x.Signer)
	case x.Believed:
		Printf(w, "signed by %s, whose key you do not trust; each result in it by a key that you trust\n", x.Signer)
	default:
		Printf(w, "signed by %s, whose key you do not trust\n", x.Signer)
	}
	for _, l := range words.First(x.LeftOut, pack.MostNamed, func(n int) { Printf(w, "%d more steps have files left out: --json lists all\n", n) }) {
		then := "the step runs again when they are needed"
		if from := l.Fetched(); from != "" {
			then = "fetched when read, from " + from
		}
		Printf(w, "not in the archive: %s of %s, %s: %s\n", Count(l.Blobs, "file"), l.Step, Size(l.Bytes), then)
	}
	for _, name := range x.Ignored[:min(len(x.Ignored), pack.MostNamed)] {
		Printf(w, "ignored: %s, which does not belong in an archive\n", name)
	}
	for _, d := range x.Differs {
		Printf(w, "%s has other outputs in the store; those stay\n", d)
	}
	if len(x.Variables) > 0 {
		Printf(w, "%s next to the pipeline sets %s\n", syntax.LocalFile, strings.Join(x.Variables, ", "))
	}
	Println(w, "its pipeline is code: read it, then")
	var f []string
	switch {
	case x.Apart: // the store may be named relative to the current folder
		f = []string{"-f", filepath.Join(x.Given, filepath.FromSlash(x.Pipeline))}
	case x.Pipeline != syntax.DefaultFile:
		f = []string{"-f", x.Pipeline}
		fallthrough
	default:
		Printf(w, "  cd %s\n", shellwords.Quote(x.Given))
	}
	Printf(w, "  %s\n  %s\n  %s\n", hint("plan", f...), hint("verify"), hint("report", f...))
}

// Repositories prints repositories that were written, and how to upload them.
func Repositories(w io.Writer, list []hub.Repository) {
	for _, e := range list {
		Printf(w, "%s  %s, %s, %s\n", e.Folder, e.Kind, Count(e.Files, "file"), Size(e.Bytes))
	}
	Println(w, "to upload them, with a token (see hf auth login):")
	for _, e := range list {
		Printf(w, "  %s\n", e.Upload)
	}
}
