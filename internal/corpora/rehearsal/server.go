package rehearsal

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redsi/redsi/internal/corpora/mediawiki/wikitest"
	"github.com/redsi/redsi/internal/corpora/splitmix"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
)

// Size is how much is served.
type Size struct {
	Dev, Train int // records of each of the five files of dev, and of each file of train
	T5, BERT   Shape
}

// Server answers under /nq/v1.0, /hub and /w/api.php what Google's bucket, the hub and the
// English Wikipedia do.
type Server struct {
	Wiki *wikitest.Wiki
	Sent func(r *http.Request, n int64) // if set, is told of each piece of an answer how much has been sent before it, and may break off: panic(http.ErrAbortHandler)

	size     Size
	articles []article
	mu       sync.Mutex
	files    map[string]func() ([]byte, error)
	asked    map[string]*Asked
}

// Asked is what was asked of one place, and served.
type Asked struct{ Requests, Bytes int64 }

// New reads the real records in a folder: internal/corpora/nq/testdata.
func New(folder string, size Size) (*Server, error) {
	articles, err := readArticles(folder)
	if err != nil {
		return nil, err
	}
	s := &Server{size: size, articles: articles, files: map[string]func() ([]byte, error){}, asked: map[string]*Asked{},
		Wiki: &wikitest.Wiki{Name: "enwiki", Pages: map[uint64]wikipedia.Entry{}}}
	real := articles[0][0]
	id, err := wikipedia.OldID(real.URL)
	s.Wiki.Pages[id] = wikipedia.Entry{OldID: id, PageID: firstPage - 1, Title: real.Title}
	for n := range s.pages(50) {
		p := pageAt(n)
		for r := range p.revisions() {
			if e := p.entry(articles, r); !p.missing(r) {
				s.Wiki.Pages[e.OldID] = e
			}
		}
	}
	return s, err
}

// Variables are those of the pipeline under which a server at base is asked, for --var.
func Variables(base string) []string {
	return []string{"nq_bucket=" + base + "/nq/v1.0", "hub=" + base + "/hub", "wikipedia_api=" + base + "/w/api.php", "contact=rehearsal@example.org"}
}

// pages has so many files of train. Two records of three name a page of their own.
func (s *Server) pages(train int) uint64 { return uint64(5*s.size.Dev+train*s.size.Train)*2/3 + 1 }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	place, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	s.mu.Lock()
	of := s.asked[place]
	if of == nil {
		of = &Asked{}
		s.asked[place] = of
	}
	of.Requests++
	s.mu.Unlock()
	counted := &counter{ResponseWriter: w, before: func(n int64) {
		if s.Sent != nil {
			s.Sent(r, n)
		}
	}}
	defer func() {
		s.mu.Lock()
		of.Bytes += counted.n
		s.mu.Unlock()
	}()
	if place == "w" {
		s.Wiki.ServeHTTP(counted, r)
		return
	}
	s.file(counted, r, place, name)
}

type counter struct {
	http.ResponseWriter
	before func(n int64)
	n      int64
}

func (c *counter) Write(b []byte) (int, error) {
	c.before(c.n)
	n, err := c.ResponseWriter.Write(b)
	c.n += int64(n)
	return n, err
}

func (c *counter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// Asked is what was asked so far, by the first part of the path: nq, hub and w.
func (s *Server) Asked() map[string]Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]Asked{}
	for place, of := range s.asked {
		all[place] = *of
	}
	return all
}

// Sizes are the bytes of the files that were asked for, by their paths.
func (s *Server) Sizes() map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]int64{}
	for name, get := range s.files {
		if b, err := get(); err == nil && b != nil {
			all[name] = int64(len(b))
		}
	}
	return all
}

func (s *Server) file(w http.ResponseWriter, r *http.Request, place, name string) {
	s.mu.Lock()
	get := s.files[r.URL.Path]
	if get == nil {
		get = sync.OnceValues(func() ([]byte, error) { return s.make(place, name) })
		s.files[r.URL.Path] = get
	}
	s.mu.Unlock()
	b, err := get()
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case b == nil:
		http.NotFound(w, r)
	default:
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(b)))
		w.Header().Set("Content-Type", "application/octet-stream")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
	}
}

// make makes a file; nil if there is none of that name.
func (s *Server) make(place, name string) ([]byte, error) {
	var split string
	var n int
	folder, last := path.Split(name)
	base, _ := strings.CutSuffix(strings.ReplaceAll(last, "-", " "), ".jsonl.gz")
	_, scanErr := fmt.Sscanf(base, "nq %s %02d", &split, &n)
	switch {
	case place == "hub" && !slices.Contains([]string{"config.json", "pytorch_model.bin"}, last):
	case place == "hub" && strings.HasPrefix(folder, "google/t5-efficient-tiny/resolve/"):
		config, all := s.size.T5.t5()
		return file(last, config, all)
	case place == "hub" && strings.HasPrefix(folder, "google/bert_uncased_"):
		config, all := s.size.BERT.bert()
		return file(last, config, all)
	case place != "nq" || scanErr != nil || folder != "v1.0/"+split+"/" || last != fmt.Sprintf("nq-%s-%02d.jsonl.gz", split, n):
	case split == "dev" && n < 5:
		return s.records(uint64(n), s.size.Dev, s.pages(1), false)
	case split == "train" && n < 50:
		return s.records(uint64(100+n), s.size.Train, s.pages(n+1), n == 0)
	}
	return nil, nil
}

// records are those of a file. The first of the first file of train is a real one as it is.
func (s *Server) records(seed uint64, n int, pages uint64, real bool) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	for i := 0; i < n && err == nil; i++ {
		h := splitmix.Finish(seed<<32 + uint64(i) + splitmix.Gamma)
		p := pageAt(h % pages)
		if i == 0 && real {
			err = s.articles[0][0].write(z)
			continue
		}
		err = p.write(z, s.articles, int64(h), splitmix.Finish(h)%p.revisions(), splitmix.Finish(h+1))
	}
	if err == nil {
		err = z.Close()
	}
	return b.Bytes(), err
}

// Report says what was asked and served.
func (s *Server) Report() string {
	var b strings.Builder
	all := s.Asked()
	for _, place := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "%-4s %6d requests, %8.1f MB\n", place, all[place].Requests, float64(all[place].Bytes)/1e6)
	}
	return b.String()
}
