package rehearsal_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/rehearsal"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
	"github.com/redsi/redsi/internal/model/tensor/torchfile"
)

var small = rehearsal.Shape{Layers: 1, Width: 16, Inner: 32, Heads: 2, PerHead: 8}

func served(t *testing.T) (*rehearsal.Server, func(name string) []byte) {
	s, err := rehearsal.New(filepath.Join("..", "nq", "testdata"), rehearsal.Size{Dev: 4, Train: 60, T5: small, BERT: small})
	if err != nil {
		t.Fatal(err)
	}
	at := httptest.NewServer(s)
	t.Cleanup(at.Close)
	return s, func(name string) []byte {
		res, err := http.Get(at.URL + name)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", name, res.Status, err)
		}
		return b
	}
}

// TestRecords: what is served is read as Natural Questions, its tokens are where the offsets say,
// and its pages have what deduplication is about: several revisions and questions, titles in
// common, revisions that the wiki does not have.
func TestRecords(t *testing.T) {
	s, get := served(t)
	packed := get("/nq/v1.0/train/nq-train-00.jsonl.gz")
	if !bytes.Equal(packed, get("/nq/v1.0/train/nq-train-00.jsonl.gz")) {
		t.Error("a file changes")
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	ids, pages, missing, titles, changed := map[int64]bool{}, map[uint64]int{}, 0, map[string]map[uint64]bool{}, 0
	for d := json.NewDecoder(z); ; {
		var r struct {
			ID     int64  `json:"example_id"`
			URL    string `json:"document_url"`
			Title  string `json:"document_title"`
			HTML   string `json:"document_html"`
			Tokens []struct {
				Text  string `json:"token"`
				Start int    `json:"start_byte"`
				End   int    `json:"end_byte"`
				HTML  bool   `json:"html_token"`
			} `json:"document_tokens"`
		}
		if err := d.Decode(&r); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if title, _ := wikipedia.URLTitle(r.URL); title != r.Title {
			t.Errorf("%q is named %q", r.URL, r.Title)
		}
		same := 0
		for _, k := range r.Tokens {
			if r.HTML[k.Start:k.End] == k.Text {
				same++
			}
		}
		if same*2 < len(r.Tokens) {
			t.Errorf("%s: %d of %d tokens are where they say", r.Title, same, len(r.Tokens))
		}
		if h1 := strings.Split(r.Title, " ")[0]; !strings.Contains(r.HTML, h1) {
			t.Errorf("%s does not have its title", r.Title)
		}
		revision, err := wikipedia.OldID(r.URL)
		if err != nil {
			t.Fatal(err)
		}
		e, ok := s.Wiki.Pages[revision]
		if !ok {
			missing++
			continue
		}
		ids[r.ID], changed = true, changed+1
		pages[e.PageID]++
		if titles[r.Title] == nil {
			titles[r.Title] = map[uint64]bool{}
		}
		titles[r.Title][e.PageID] = true
	}
	shared := 0
	for _, of := range titles {
		if len(of) > 1 {
			shared++
		}
	}
	if len(ids) != changed || changed+missing != 60 || missing == 0 || len(pages) >= changed || len(pages) < 20 || shared == 0 {
		t.Errorf("%d ids of %d records, %d missing, %d pages, %d titles of several", len(ids), changed, missing, len(pages), shared)
	}
	if of := s.Served()["/nq/v1.0/train/nq-train-00.jsonl.gz"]; of.Requests.Load() != 2 || of.Sent.Load() != int64(2*len(packed)) {
		t.Errorf("%d requests, %d bytes", of.Requests.Load(), of.Sent.Load())
	}
}

// TestModels: the files of models are those of torch.save, and the same each time.
func TestModels(t *testing.T) {
	_, get := served(t)
	for name, first := range map[string]string{"google/t5-efficient-tiny/resolve/main": "shared.weight", "google/bert_uncased_L-8_H-512_A-8/resolve/main": "bert.embeddings.word_embeddings.weight"} {
		b := get("/hub/" + name + "/pytorch_model.bin")
		f, err := torchfile.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		if f.Tensors[0].Name != first || len(f.Tensors[0].Shape) != 2 || f.Tensors[0].Shape[1] != 16 {
			t.Errorf("%+v", f.Tensors[0])
		}
		_, again := served(t)
		if !bytes.Equal(b, again("/hub/"+name+"/pytorch_model.bin")) {
			t.Errorf("%s changes", name)
		}
		if !json.Valid(get("/hub/" + name + "/config.json")) {
			t.Errorf("%s has no configuration", name)
		}
	}
}
