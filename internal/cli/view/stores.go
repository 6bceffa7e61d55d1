package view

import (
	"fmt"
	"io"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/lockfile/origins"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/session/belief"
	"github.com/redsi/redsi/internal/sharing/archive"
	"github.com/redsi/redsi/internal/sharing/hub"
	"github.com/redsi/redsi/internal/sharing/pack"
	"github.com/redsi/redsi/internal/sharing/publish"
	"github.com/redsi/redsi/internal/sharing/signers"
	"github.com/redsi/redsi/internal/system/shellwords"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/workflows"
)

func Transferred(w io.Writer, t *artifacts.Transfer, done artifacts.Transferred) {
	verb := either(t.DryRun, "would copy", "copied")
	Printf(w, "%s from %s to %s: %s (%d were there), %s of %s, %s\n", verb, t.From.URL, t.To.URL,
		Count(done.Results, "result"), done.There, Count(done.Blobs, "blob"), Size(done.Bytes), Count(done.Records, "other record"))
	n := done.Elsewhere
	printIf(w, n > 0, "%s %s elsewhere; the address was copied\n", Count(n, "blob"), words.Of(n, "lies", "lie"))
	printIf(w, done.Released > 0, "the outputs of %s have left the store (keep = false); what makes keys was copied\n", Count(done.Released, "result"))
	for _, d := range done.Differs {
		Printf(w, "%s has different outputs there; those stay\n", d.Short())
	}
	for _, d := range words.First(slices.SortedFunc(maps.Keys(done.Lost), artifacts.Digest.Compare), lostShown, func(n int) { Printf(w, "and %d more could not be copied; --json lists all\n", n) }) {
		Printf(w, "%s could not be copied: %s\n", d.Short(), done.Lost[d])
	}
}

// Released says of steps with keep = false why their bytes are still there.
func Released(w io.Writer, r workflows.Released) {
	printIf(w, r.Held > 0, "the bytes of %s with keep = false stay: %s\n", Count(r.Held, "step"), r.For)
	printIf(w, r.Problem != "", "what steps have read could not be let go: %s\n", r.Problem)
}

func Sources(w io.Writer, states []origins.Source) {
	n := map[string]int{}
	stored := 0
	for _, s := range states {
		n[s.State]++
		where := "not in store"
		if s.InStore {
			where = "in store"
			stored++
		}
		note := s.Note
		if note == "" && s.Size > 0 {
			note = Size(s.Size)
		}
		Printf(w, "%-11s %-13s %s  %s\n", s.State, where, s.Source, note)
	}
	Printf(w, "%s: %d ok, %d unpinned, %d changed, %d unreachable; %d in the store.\n",
		Count(len(states), "source"), n[origins.OK], n[origins.Unpinned], n[origins.Changed], n[origins.Unreachable], stored)
}

func Elsewhere(w io.Writer, all []artifacts.Elsewhere) {
	if len(all) == 0 {
		return
	}
	var bytes int64
	var hosts []string
	for _, e := range all {
		bytes += e.Size
		if u, err := url.Parse(e.URL); err == nil && !slices.Contains(hosts, u.Host) {
			hosts = append(hosts, u.Host)
		}
	}
	slices.Sort(hosts)
	at := strings.Join(hosts[:min(len(hosts), hostsShown)], ", ")
	if n := len(hosts) - hostsShown; n > 0 {
		at += " and " + Count(n, "other host")
	}
	n := len(all)
	Printf(w, "%s of %s %s not here: %s at %s and %s fetched when read\n", Count(n, "blob"), Size(bytes), words.Of(n, "is", "are"), words.Of(n, "it is", "they are"), at, words.Of(n, "is", "are"))
}

// Signed prints what a key signed of the results that the key old had signed; a zero old: of all results.
func Signed(w io.Writer, k, old signature.Public, n signers.Signed) {
	Printf(w, "%s signed %s; %d were signed already", k.Name, Count(n.Signed, "result"), n.There)
	printIf(w, !old.IsZero(), ", %d are not signed by %s", n.Passed, old.Name)
	printIf(w, n.Damaged > 0, ", %d cannot be used", n.Damaged)
	Println(w)
}

func Signers(w io.Writer, list []*signers.Signer, results int, store string) {
	for _, r := range list {
		Printf(w, "%8d  %s\n", r.Results, signerText(r))
	}
	Printf(w, "%s of %s\n", Count(results, "result"), store)
}

func signerText(r *signers.Signer) string {
	if r.Key == "" {
		return "not signed"
	}
	said := r.Standing
	switch {
	case r.Own && r.Standing == string(signature.Unknown):
		said = "your key"
	case r.Own:
		said = "your key, " + r.Standing
	}
	text := r.Key + "  " + said
	if r.Damaged > 0 {
		text += fmt.Sprintf("; %s not matching the record", Count(r.Damaged, "signature"))
	}
	return text
}

// Exported prints what is in an archive; run is the command that makes what it lacks.
func Exported(w io.Writer, x *pack.Exported, run string) {
	Printf(w, "%s  %s, %s: %s of %s, %s of %s, %s of the pipeline\n", x.Archive, Size(x.Size), x.Digest, Count(x.Results, "result"),
		Count(x.Steps, "step"), Count(x.Blobs, "blob"), Size(x.Bytes), Count(x.Files, "file"))
	printIf(w, x.Signer != "", "signed by %s\n", x.Signer)
	printIf(w, x.Signer == "", "not signed: a reader cannot tell who made it\n")
	printLeft(w, "left out", x.LeftOut, "a reader runs it anew", "a reader fetches it from ")
	n := len(x.Missing)
	printIf(w, n > 0, "%s %s no result and are not in it: %s\n", Count(n, "step"), words.Of(n, "has", "have"), run)
	PrintEach(w, "note: %s\n", x.Notes)
	if len(x.Upload) > 0 {
		Printf(w, "%s  metadata for Zenodo; to upload a draft, with a token in ZENODO_TOKEN:\n", x.Deposit)
		PrintEach(w, "  %s\n", x.Upload)
	}
}

// printLeft prints the steps whose files are not in an archive: what happens to files without an address, and to others.
func printLeft(w io.Writer, what string, list []archive.LeftOut, lost, from string) {
	for _, l := range words.First(list, pack.MostNamed, func(n int) { Printf(w, "%d more steps have files left out: --json lists all\n", n) }) {
		then := lost
		if at := l.Fetched(); at != "" {
			then = from + at
		}
		Printf(w, "%s: %s of %s, %s: %s\n", what, Count(l.Blobs, "file"), l.Step, Size(l.Bytes), then)
	}
}

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
	printLeft(w, "not in the archive", x.LeftOut, "the step runs anew when they are needed", "fetched when read, from ")
	PrintEach(w, "ignored: %s, which does not belong in an archive\n", x.Ignored[:min(len(x.Ignored), pack.MostNamed)])
	PrintEach(w, "%s has other outputs in the store; those stay\n", x.Differs)
	printIf(w, len(x.Variables) > 0, "%s next to the pipeline sets %s\n", syntax.LocalFile, strings.Join(x.Variables, ", "))
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

func Repositories(w io.Writer, list []hub.Repository) {
	for _, e := range list {
		Printf(w, "%s  %s, %s, %s\n", e.Folder, e.Kind, Count(e.Files, "file"), Size(e.Bytes))
	}
	Println(w, "to upload them, with a token (see hf auth login):")
	for _, e := range list {
		Printf(w, "  %s\n", e.Upload)
	}
}

func Publication(w io.Writer, pub *publish.Publication, hint func(verb string, args ...string) string) {
	verb := either(pub.DryRun, "would publish", "published")
	done := pub.Done
	Printf(w, "%s %s and %s in %s: %s (%d were there), %s of %s\n", verb, Count(pub.Tables, "table"), Count(pub.Figures, "figure"), pub.Folder,
		Count(done.Results, "result"), done.There, Count(done.Blobs, "blob"), Size(done.Bytes))
	var left, fetched int64
	for _, l := range pub.Left {
		left += l.Size
		then := "have to rebuild it"
		if l.URL != "" {
			fetched += l.Size
			then = "fetch it from " + l.URL
		}
		Printf(w, "left out  %s  %s of %s: readers %s\n", Size(l.Size), l.Name, l.Step, then)
	}
	printIf(w, len(pub.Left) > 1, "left out  %s in all, of which readers fetch %s\n", Size(left), Size(fetched))
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
	printIf(w, pub.Rebuilt != "", "%s\n", pub.Rebuilt)
	hosts := len(pub.Hosts)
	printIf(w, hosts > 0, "the records name %s that made them: %s\n", Count(hosts, "machine"), strings.Join(pub.Hosts[:min(3, hosts)], ", "))
}

func planOthers(w io.Writer, v *plan.Preview, o *belief.Others) {
	if o == nil {
		return
	}
	for _, s := range o.Stores {
		switch {
		case s.Error != "":
			Printf(w, "from      %s does not answer; its results count as missing\n", s.Name)
		case s.Hits > 0:
			Printf(w, "from      %s: %s", s.Name, Count(s.Hits, "hit"))
			unsigned := o.Unsigned[s.Name]
			printIf(w, unsigned > 0, ", %d of them not signed by a key that this project trusts", unsigned)
			Println(w)
		}
		printIf(w, s.Denied > 0, "          it denies access to %s; for a bucket that may not be listed this means that they do not exist\n",
			Count(s.Denied, "record"))
	}
	if len(o.Fetch) > 0 {
		Printf(w, "fetch     %s in %s", Size(o.Bytes()), Count(o.Blobs, "blob"))
		groups := o.Blocks(v)
		for _, g := range words.First(groups, fetchShown, func(n int) { Printf(w, "\n          and %s more", Count(n, "block")) }) {
			if len(groups) > 1 {
				Printf(w, "\n          %12s  %s", Size(g.Bytes), g.Name)
				printIf(w, g.Steps > 1, " (%d steps)", g.Steps)
			}
		}
		Println(w)
	}
	printIf(w, o.Own > 0, "unsigned  %s in the own store, accepted by shared = \"use\"\n", Count(o.Own, "hit"))
	PrintPassed(w, o.Passed)
}

func PrintPassed(w io.Writer, passed []belief.Passed) {
	for _, p := range passed {
		Printf(w, "not used  %s: %s\n", Count(p.Steps, "step"), p.Text)
		printIf(w, p.Do != "", "          -> %s\n", p.Do)
	}
}
