package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/session/fault"
)

func (a *app) sayImported(x *imported) error {
	failed := error(nil)
	if n := len(x.Damaged); n > 0 {
		failed = fault.Failed(fmt.Errorf("%s of the archive cannot be used, such as %s", view.Count(n, "result"), x.Damaged[0]))
	}
	if a.JSON {
		return errors.Join(view.WriteJSON(a.Out, x), failed)
	}
	view.Printf(a.Out, "%s  %s, %s (%d were there), %s of %s\n", x.given, view.Count(x.Files, "file"), view.Count(x.Results, "result"), x.There, view.Count(x.Blobs, "blob"), view.Size(x.Bytes))
	switch {
	case x.Signer == "":
		view.Println(a.Out, "not signed: anybody may have made it; check it with redsi verify --rebuild")
	case x.Trusted:
		view.Printf(a.Out, "signed by %s, whose key you trust\n", x.Signer)
	case x.Believed:
		view.Printf(a.Out, "signed by %s, whose key you do not trust; each result in it by a key that you trust\n", x.Signer)
	default:
		view.Printf(a.Out, "signed by %s, whose key you do not trust\n", x.Signer)
	}
	for i, l := range x.LeftOut {
		if i == mostNamed {
			view.Printf(a.Out, "%d more steps have files left out: --json lists all\n", len(x.LeftOut)-i)
			break
		}
		then := "the step runs again when they are needed"
		if from := l.Fetched(); from != "" {
			then = "fetched when read, from " + from
		}
		view.Printf(a.Out, "not in the archive: %s of %s, %s: %s\n", view.Count(l.Blobs, "file"), l.Step, view.Size(l.Bytes), then)
	}
	for _, name := range x.Ignored[:min(len(x.Ignored), mostNamed)] {
		view.Printf(a.Out, "ignored: %s, which does not belong in an archive\n", name)
	}
	for _, d := range x.Differs {
		view.Printf(a.Out, "%s has other outputs in the store; those stay\n", d)
	}
	if len(x.Variables) > 0 {
		view.Printf(a.Out, "%s next to the pipeline sets %s\n", pipeline.LocalFile, strings.Join(x.Variables, ", "))
	}
	view.Println(a.Out, "its pipeline is code: read it, then")
	var f []string
	switch {
	case x.apart: // the store may be named relative to the current folder
		f = []string{"-f", filepath.Join(x.given, filepath.FromSlash(x.Pipeline))}
	case x.Pipeline != pipeline.DefaultFile:
		f = []string{"-f", x.Pipeline}
		fallthrough
	default:
		view.Printf(a.Out, "  cd %s\n", quoted(x.given))
	}
	view.Printf(a.Out, "  %s\n  %s\n  %s\n", a.hint("plan", f...), a.hint("verify"), a.hint("report", f...))
	return failed
}
