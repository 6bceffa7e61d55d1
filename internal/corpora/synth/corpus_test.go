package synth

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

// memory keeps generated files.
type memory struct {
	bytes.Buffer
	closed int
}

func (m *memory) Close() error { m.closed++; return nil }

type corpus struct {
	files map[string]*memory
	truth *Truth
	read  map[string][]example // by kind, once read
}

func generate(t *testing.T, cfg Config) corpus {
	t.Helper()
	c := corpus{files: map[string]*memory{}, read: map[string][]example{}}
	last := int64(0)
	truth, err := Generate(cfg, func(name string) (io.WriteCloser, error) {
		if c.files[name] != nil {
			t.Errorf("%s is created twice", name)
		}
		c.files[name] = &memory{}
		return c.files[name], nil
	}, func(done, total int64) {
		testkit.That(t, done >= last && done <= total, "progress", done, "after", last, "of", total)
		last = done
	})
	testkit.None(t, err)
	if want := int64(cfg.TrainQuestions + cfg.DevQuestions + cfg.lanes()); last != want {
		t.Errorf("progress ends at %d of %d", last, want)
	}
	for name, f := range c.files {
		testkit.Is(t, f.closed, 1, name)
	}
	c.truth = truth
	return c
}

// defaultCorpus is shared by the tests, which only read it.
var defaultCorpus = sync.OnceValue(func() corpus {
	return generate(&testing.T{}, Default())
})

// example is a line of either format.
type example struct {
	fullLine
	Text string `json:"document_text"`
}

// examples reads all files of a kind in order.
func (c corpus) examples(t *testing.T, kind string) (list []example) {
	t.Helper()
	if list, ok := c.read[kind]; ok {
		return list
	}
	for _, f := range c.truth.Files {
		if f.Kind != kind {
			continue
		}
		n := len(list) + f.Entries
		for line := range bytes.Lines(goldens.Plain(t, c.files[f.Name].Bytes())) {
			var e example
			testkit.None(t, json.Unmarshal(line, &e))
			list = append(list, e)
		}
		testkit.Is(t, len(list), n, f.Name)
	}
	c.read[kind] = list
	return list
}

// dump counts the dump.
func (c corpus) dump(t *testing.T) Stub {
	t.Helper()
	count, seen := Stub{Namespaces: map[int]int{}}, map[string]bool{}
	lastPage := 0
	for _, f := range c.truth.Files {
		if f.Kind != KindStub {
			continue
		}
		var doc struct {
			Pages []struct {
				Title    string `xml:"title"`
				NS       int    `xml:"ns"`
				ID       string `xml:"id"`
				Redirect *struct {
					Title string `xml:"title,attr"`
				} `xml:"redirect"`
				Revisions []struct {
					ID        string `xml:"id"`
					Parent    string `xml:"parentid"`
					Timestamp string `xml:"timestamp"`
				} `xml:"revision"`
			} `xml:"page"`
		}
		testkit.None(t, xml.Unmarshal(goldens.Plain(t, c.files[f.Name].Bytes()), &doc), f.Name)
		testkit.Is(t, len(doc.Pages), f.Entries, f.Name)
		for _, p := range doc.Pages {
			count.Pages++
			count.Namespaces[p.NS]++
			if p.Redirect != nil {
				count.Redirects++
			}
			var id int
			fmt.Sscan(p.ID, &id)
			if id <= lastPage {
				t.Errorf("page id %d follows %d", id, lastPage)
			}
			lastPage = id
			last, lastTime := "", ""
			for _, r := range p.Revisions {
				count.Revisions++
				if seen[r.ID] {
					t.Errorf("revision %s occurs twice", r.ID)
				}
				seen[r.ID] = true
				if r.Parent != last || r.Timestamp <= lastTime {
					t.Errorf("revision %s of page %s: parent %q, time %s after %q, %s", r.ID, p.ID, r.Parent, r.Timestamp, last, lastTime)
				}
				last, lastTime = r.ID, r.Timestamp
			}
		}
	}
	return count
}

func TestGolden(t *testing.T) {
	c := defaultCorpus()
	var out strings.Builder
	for _, f := range c.truth.Files {
		b := c.files[f.Name].Bytes()
		raw := goldens.Plain(t, b)
		testkit.Is(t, int64(len(raw)), f.Bytes, f.Name)
		fmt.Fprintf(&out, "%s\n  content %x\n  gzip    %x\n", f.Name, sha256.Sum256(raw), sha256.Sum256(b))
	}
	truth, err := json.MarshalIndent(c.truth, "", " ")
	testkit.None(t, err)
	checkGolden(t, "digests.golden", []byte(out.String()))
	checkGolden(t, "truth.golden", append(truth, '\n'))
}

func checkGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if goldens.Of(t, path, string(got)) != string(got) {
		t.Errorf("%s differs: the generator makes other bytes than before; if that is meant, raise the version of the step kind that runs it and run the tests with -update", path)
	}
}

// Members and parts change the layout, not the content.
func TestStubLayout(t *testing.T) {
	cfg := Default()
	cfg.TrainQuestions, cfg.DevQuestions, cfg.StubFillerPages = 1, 0, 200
	content := func(c corpus) (pages []string, members int) {
		for _, f := range c.truth.Files {
			if f.Kind != KindStub {
				continue
			}
			b := c.files[f.Name].Bytes()
			members += strings.Count(string(b), "\x1f\x8b\x08\x00\x00\x00\x00\x00")
			body := string(goldens.Plain(t, b))
			body, ok := strings.CutPrefix(body, stubHeader)
			body, ok2 := strings.CutSuffix(body, stubFooter)
			testkit.That(t, ok && ok2, f.Name, "is no whole document")
			pages = append(pages, strings.SplitAfter(body, "  </page>\n")...)
		}
		return slices.DeleteFunc(pages, func(s string) bool { return s == "" }), members
	}
	cfg.StubMembers = 1
	one, n := content(generate(t, cfg))
	testkit.Is(t, n, 1, "one part of one member")
	cfg.StubParts, cfg.StubMembers = 4, 3
	many, n := content(generate(t, cfg))
	testkit.Is(t, n, 12, "four parts of three members have")
	testkit.Deep(t, one, many, "the parts hold other pages than the whole")
}
