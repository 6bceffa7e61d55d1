package main

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSectionsHaveTheirOwnTextAndATitleOfTheirOwn(t *testing.T) {
	b, err := readBook("testdata/manual")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range b.sections {
		first, _, _ := strings.Cut(s.text, " ")
		got[s.key] = s.title + " | " + first
	}
	want := map[string]string{
		"maintenance":           "Maintenance | Like",
		"maintenance#OVERVIEW":  "Maintenance: Overview | What",
		"maintenance#VACUUMING": "Vacuuming | ",
		"maintenance#DAEMON":    "The Autovacuum Daemon | The",
		"storage":               "Internals: Overview | How",
		"storage#TOAST":         "TOAST | Values",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestQueriesAreEntriesOfTheIndexAndWhatRefersToSections(t *testing.T) {
	b, err := readBook("testdata/manual")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := b.readIndex()
	if err != nil {
		t.Fatal(err)
	}
	c := b.collect(entries, b.readReferences())
	var got []string
	splits := map[string]string{}
	for _, q := range c.queries {
		var to []string
		for _, s := range q.to {
			to = append(to, s.key)
		}
		kind, _, _ := strings.Cut(q.name, "-")
		got = append(got, kind+": "+q.text+" => "+strings.Join(to, " "))
		splits[q.text] = q.split
	}
	want := []string{
		"index: autovacuum => maintenance#DAEMON",
		"index: autovacuum, general information => maintenance#DAEMON maintenance#OVERVIEW",
		"index: dead rows => maintenance#OVERVIEW",
		"index: large values => storage#TOAST",
		"index: rows => storage",
		"index: rows, dead => maintenance#OVERVIEW",
		"index: sliced bread => storage#TOAST",
		"link: automatic maintenance => maintenance#DAEMON",
		"sentence: Like any database software the server requires that certain tasks be performed regularly; " +
			"automatic maintenance is one. => maintenance#DAEMON",
		"sentence: What follows is about the space of rows that are dead, and how it is found again. => maintenance#DAEMON",
		"sentence: The space behind a table's end is given back only sometimes. => storage",
		"sentence: The space behind a table's end is given back only sometimes. For details. => storage#TOAST",
		"sentence: Keep large values out of the way of scans that do not want them => storage#TOAST",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, same := range [][2]string{{"autovacuum", "autovacuum, general information"}, {"large values", "sliced bread"}, {"rows, dead", "dead rows"}} {
		if splits[same[0]] != splits[same[1]] {
			t.Errorf("%q is in %s and %q in %s", same[0], splits[same[0]], same[1], splits[same[1]])
		}
	}
	e := c.counts.Entries
	if e.Title != 1 || e.Name != 2 || e.Parameter != 1 || e.NoLink != 1 {
		t.Errorf("left out: %+v", e)
	}
}

func TestWhatSectionsSay(t *testing.T) {
	text := "Sentences of a manual are here already. Short. The second sentence of the text says more than that! " +
		"int x = 1; A third sentence, the last one that is whole, ends the text."
	s := &section{title: "A title", text: text}
	if diff := cmp.Diff([]string{"A title", "Sentences of a manual are here already."}, s.said(1)); diff != "" {
		t.Error(diff)
	}
	for _, said := range s.said(9) {
		if said != "A title" && !strings.Contains(text, said) {
			t.Errorf("%q is no sentence of it", said)
		}
	}
}

func TestTheExampleIsConsistent(t *testing.T) {
	dir := filepath.Join("..", "..", "examples", "postgresql")
	documents, queries := idsOf(t, filepath.Join(dir, "corpus.jsonl.gz")), idsOf(t, filepath.Join(dir, "queries.jsonl.gz"))
	if len(documents) < 1500 {
		t.Errorf("%d documents", len(documents))
	}
	in := map[string]string{}
	texts := map[string]string{}
	for _, split := range []string{"train", "dev", "test"} {
		b, err := os.ReadFile(filepath.Join(dir, "qrels", split+".tsv"))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n")[1:] {
			f := strings.Split(line, "\t")
			text, known := queries[f[0]]
			if _, ok := documents[f[1]]; !ok || !known {
				t.Fatalf("%s: %q names what is not there", split, line)
			}
			if was := in[f[0]]; was != "" && was != split {
				t.Errorf("%s is in %s and %s", f[0], was, split)
			}
			if was := texts[fold(text)]; was != "" && was != split {
				t.Errorf("%q is in %s and %s", text, was, split)
			}
			in[f[0]], texts[fold(text)] = split, split
		}
	}
	if len(in) != len(queries) {
		t.Errorf("%d queries, of which %d are judged", len(queries), len(in))
	}
}

// idsOf reads lines' ids with their texts.
func idsOf(t *testing.T, file string) map[string]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for d := json.NewDecoder(z); ; {
		var line struct {
			ID   string `json:"_id"`
			Text string `json:"text"`
		}
		if err := d.Decode(&line); err == io.EOF {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		if _, again := out[line.ID]; again || line.ID == "" || line.Text == "" {
			t.Errorf("%+v is empty or there twice", line)
		}
		out[line.ID] = line.Text
	}
}
