package rehearsal_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/rehearsal"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
	"github.com/redsi/redsi/internal/model/tensor/torchfile"
	"github.com/redsi/redsi/internal/system/testkit"
)

var small = rehearsal.Shape{Layers: 1, Width: 16, Inner: 32, Heads: 2, PerHead: 8}

func served(t *testing.T) (*rehearsal.Server, func(name string) []byte) {
	s := rehearsal.New(rehearsal.Size{Dev: 4, Train: 60, T5: small, BERT: small})
	at := httptest.NewServer(s)
	t.Cleanup(at.Close)
	return s, func(name string) []byte {
		res, err := http.Get(at.URL + name)
		testkit.None(t, err)
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", name, res.Status, err)
		}
		return b
	}
}

// TestRecords: what is served is read as Natural Questions, and the wiki knows all revisions but some.
func TestRecords(t *testing.T) {
	s, get := served(t)
	packed := get("/nq/v1.0/train/nq-train-00.jsonl.gz")
	if !bytes.Equal(packed, get("/nq/v1.0/train/nq-train-00.jsonl.gz")) {
		t.Error("a file changes")
	}
	rd := nq.NewReader(bytes.NewReader(packed), "served", nq.Options{Split: nq.Train, Format: nq.Full})
	defer rd.Close()
	ids, pages, missing, titles := map[int64]bool{}, map[uint64]bool{}, 0, map[string]map[uint64]bool{}
	for r := (nq.Record{}); ; {
		if err := rd.Next(&r); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		ids[r.ExampleID] = true
		title, _ := wikipedia.URLTitle(r.URL)
		revision, err := wikipedia.OldID(r.URL)
		testkit.None(t, err, r.URL)
		testkit.Is(t, title, r.Title, r.URL)
		e, ok := s.Wiki.Pages[revision]
		if !ok {
			missing++
			continue
		}
		pages[e.PageID] = true
		if titles[title] == nil {
			titles[title] = map[uint64]bool{}
		}
		titles[title][e.PageID] = true
	}
	shared := 0
	for _, of := range titles {
		if len(of) > 1 {
			shared++
		}
	}
	if len(ids) != 60 || missing == 0 || len(pages) > 50 || len(pages) < 20 || shared == 0 {
		t.Errorf("%d records, %d missing, %d pages, %d titles of several", len(ids), missing, len(pages), shared)
	}
	if of := s.Served()["/nq/v1.0/train/nq-train-00.jsonl.gz"]; of.Requests.Load() != 2 || of.Sent.Load() != int64(2*len(packed)) {
		t.Errorf("%d requests, %d bytes", of.Requests.Load(), of.Sent.Load())
	}
}

// TestModels: the files of models are as torch.save writes them, and the same each time.
func TestModels(t *testing.T) {
	_, get := served(t)
	for name, first := range map[string]string{"google/t5-efficient-tiny/resolve/main": "shared.weight", "google/bert_uncased_L-8_H-512_A-8/resolve/main": "bert.embeddings.word_embeddings.weight"} {
		b := get("/hub/" + name + "/pytorch_model.bin")
		f, err := torchfile.Open(bytes.NewReader(b), int64(len(b)))
		testkit.None(t, err)
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
