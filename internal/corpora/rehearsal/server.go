package rehearsal

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redsi/redsi/internal/corpora/mediawiki/wikitest"
	"github.com/redsi/redsi/internal/corpora/synth"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
)

type Size struct {
	Dev, Train int // records of each of the five files of dev, and of the only file of train
	T5, BERT   Shape
}

// Server answers under /nq/v1.0, /hub and /w/api.php as Google's bucket, the hub and the English Wikipedia do.
type Server struct {
	Wiki *wikitest.Wiki
	Sent func(r *http.Request, n int64) // if set, called before each piece of an answer with the bytes already sent; may break off by panic(http.ErrAbortHandler)

	size    Size
	records func() (map[string]*buffer, error) // by the name of the file
	mu      sync.Mutex
	served  map[string]*Served
}

// Served counts the requests for a path and the bytes of their answers.
type Served struct {
	Requests, Sent atomic.Int64
	File           func() ([]byte, error) // nil if there is no such file
}

// New returns a server, which generates its records at the first request for one.
func New(size Size) *Server {
	c := synth.Default()
	c.Whole, c.TrainQuestions, c.TrainShards, c.DevQuestions, c.DevShards = true, size.Train, 1, 5*size.Dev, 5
	c.Pages = (size.Train+5*size.Dev)*2/3 + 1
	c.StubRevisionsPerPage, c.StubFillerPages = 0, 0
	s := &Server{size: size, served: map[string]*Served{}, Wiki: &wikitest.Wiki{Name: "enwiki", Pages: map[uint64]wikipedia.Entry{}}}
	c.Revisions(func(revision, page int, title string) {
		s.Wiki.Pages[uint64(revision)] = wikipedia.Entry{OldID: uint64(revision), PageID: uint64(page), Title: title, Redirect: page%60 == 1}
	})
	s.records = sync.OnceValues(func() (map[string]*buffer, error) {
		all := map[string]*buffer{}
		_, err := synth.Generate(c, func(name string) (io.WriteCloser, error) {
			all[name] = &buffer{}
			return all[name], nil
		}, nil)
		return all, err
	})
	return s
}

type buffer struct{ bytes.Buffer }

func (*buffer) Close() error { return nil }

// Variables returns the pipeline's variables, for --var, that lead to a server at base.
func Variables(base string) []string {
	return []string{"nq_bucket=" + base + "/nq/v1.0", "hub=" + base + "/hub", "wikipedia_api=" + base + "/w/api.php", "contact=rehearsal@example.org"}
}

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

func (s *Server) Served() map[string]*Served {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.served)
}

var (
	nqFile  = regexp.MustCompile(`^/nq/v1\.0/(?:train|dev)/(nq-[^/]+)$`)
	hubFile = regexp.MustCompile(`^/hub/google/(t5-efficient-tiny|bert_uncased_[^/]+)/resolve/[^/]+/(config\.json|pytorch_model\.bin)$`)
)

// make generates a file; nil if there is no file of that name.
func (s *Server) make(path string) ([]byte, error) {
	if m := hubFile.FindStringSubmatch(path); m != nil {
		config, all := s.size.BERT.bert()
		if m[1] == "t5-efficient-tiny" {
			config, all = s.size.T5.t5()
		}
		return file(m[2], config, all)
	}
	if m := nqFile.FindStringSubmatch(path); m != nil {
		all, err := s.records()
		if b := all[m[1]]; b != nil {
			return b.Bytes(), err
		}
		return nil, err
	}
	return nil, nil
}
