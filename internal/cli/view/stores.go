package view

import (
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/lockfile/origins"
	"github.com/redsi/redsi/internal/sharing/signers"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/workflows"
)

// lostShown is how many lost results are named.
const lostShown = 5

// Transferred prints what was copied between stores.
func Transferred(w io.Writer, t *artifacts.Transfer, done artifacts.Transferred) {
	verb := "copied"
	if t.DryRun {
		verb = "would copy"
	}
	Printf(w, "%s from %s to %s: %s (%d were there), %s of %s, %s\n", verb, t.From.URL, t.To.URL,
		Count(done.Results, "result"), done.There, Count(done.Blobs, "blob"), Size(done.Bytes), Count(done.Records, "other record"))
	if done.Elsewhere > 0 {
		Printf(w, "%s %s elsewhere; the address was copied\n", Count(done.Elsewhere, "blob"), words.Of(done.Elsewhere, "lies", "lie"))
	}
	if done.Released > 0 {
		Printf(w, "the outputs of %s have left the store (keep = false); what makes keys was copied\n", Count(done.Released, "result"))
	}
	for _, d := range done.Differs {
		Printf(w, "%s has different outputs there; those stay\n", d.Short())
	}
	for _, d := range words.First(slices.SortedFunc(maps.Keys(done.Lost), artifacts.Digest.Compare), lostShown, func(n int) { Printf(w, "and %d more could not be copied; --json lists all\n", n) }) {
		Printf(w, "%s could not be copied: %s\n", d.Short(), done.Lost[d])
	}
}

// Released says of steps with keep = false why their bytes are still there.
func Released(w io.Writer, r workflows.Released) {
	if r.Held > 0 {
		Printf(w, "the bytes of %s with keep = false stay: %s\n", Count(r.Held, "step"), r.For)
	}
	if r.Problem != "" {
		Printf(w, "what steps have read could not be let go: %s\n", r.Problem)
	}
}

// Sources prints what is known of sources.
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

// hostsShown is how many hosts are named in a line.
const hostsShown = 5

// Elsewhere says which blobs are not in the store but elsewhere.
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

// Signed prints what a key signed of the results that another one, old, had signed; a zero old:
// of all.
func Signed(w io.Writer, k, old signature.Public, n signers.Signed) {
	text := fmt.Sprintf("%s signed %s; %d were signed already", k.Name, Count(n.Signed, "result"), n.There)
	if !old.IsZero() {
		text += fmt.Sprintf(", %d are not signed by %s", n.Passed, old.Name)
	}
	if n.Damaged > 0 {
		text += fmt.Sprintf(", %d cannot be used", n.Damaged)
	}
	Println(w, text)
}

// Signers prints who signed how many of so many results of a store.
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
	said := []string{r.Standing}
	if r.Own {
		said = []string{"your key"}
		if r.Standing != string(signature.Unknown) {
			said = append(said, r.Standing)
		}
	}
	text := r.Key + "  " + strings.Join(said, ", ")
	if r.Damaged > 0 {
		text += fmt.Sprintf("; %s not matching the record", Count(r.Damaged, "signature"))
	}
	return text
}
