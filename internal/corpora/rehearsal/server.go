package rehearsal

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"sync"
	"sync/atomic"
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
	served   map[string]*Served
}

// Served is what was asked of one path, and how many bytes of answers were sent.
type Served struct {
	Requests, Sent atomic.Int64
	File           func() ([]byte, error) // nil if there is none of that name
}

// New reads the real records in a folder: internal/corpora/nq/testdata.
func New(folder string, size Size) (*Server, error) {
	articles, err := readArticles(folder)
	if err != nil {
		return nil, err
	}
	s := &Server{size: size, articles: articles, served: map[string]*Served{},
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
	s.mu.Lock()
	of := s.served[r.URL.Path]
	if of == nil {
		of = &Served{File: sync.OnceValues(func() ([]byte, error) { return s.make(r.URL.Path) })}
		s.served[r.URL.Path] = of
	}
	s.mu.Unlock()
	of.Requests.Add(1)
	w = &counter{ResponseWriter: w, all: &of.Sent, before: func(n int64) {
		if s.Sent != nil {
			s.Sent(r, n)
		}
	}}
	if r.URL.Path == "/w/api.php" {
		s.Wiki.ServeHTTP(w, r)
		return
	}
	switch b, err := of.File(); {
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

type counter struct {
	http.ResponseWriter
	before func(n int64)
	n      int64
	all    *atomic.Int64
}

func (c *counter) Write(b []byte) (int, error) {
	c.before(c.n)
	n, err := c.ResponseWriter.Write(b)
	c.n += int64(n)
	c.all.Add(int64(n))
	return n, err
}

// Served is what was asked so far, by path.
func (s *Server) Served() map[string]*Served {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.served)
}

var (
	nqFile  = regexp.MustCompile(`^/nq/v1\.0/(train/nq-train|dev/nq-dev)-(\d\d)\.jsonl\.gz$`)
	hubFile = regexp.MustCompile(`^/hub/google/(t5-efficient-tiny|bert_uncased_[^/]+)/resolve/[^/]+/(config\.json|pytorch_model\.bin)$`)
)

// make makes a file; nil if there is none of that name.
func (s *Server) make(path string) ([]byte, error) {
	if m := hubFile.FindStringSubmatch(path); m != nil {
		config, all := s.size.BERT.bert()
		if m[1] == "t5-efficient-tiny" {
			config, all = s.size.T5.t5()
		}
		return file(m[2], config, all)
	}
	if m := nqFile.FindStringSubmatch(path); m != nil {
		switch n, dev := int(m[2][0]-'0')*10+int(m[2][1]-'0'), m[1] == "dev/nq-dev"; {
		case dev && n < 5:
			return s.records(uint64(n), s.size.Dev, s.pages(1), false)
		case !dev && n < 50:
			return s.records(uint64(100+n), s.size.Train, s.pages(n+1), n == 0)
		}
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
