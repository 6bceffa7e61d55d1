package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redsi/redsi/internal/system/lists"
)

// serveLines ask a server of a small T5 from many clients at once.
var serveLines = []line{{
	name: "serve_200_p99_vs_transformers", takes: 30, target: 1.5, value: p99, sliced: true, noMemory: true,
	doc: "redsi serve of T5 Efficient Tiny, 4 beams along a trie of 385 identifiers, 200 clients at once, 3 questions each: the time within which 99 of 100 " +
		"are answered, from the first try on, pauses included; against an HTTP server that batches",
	ours: side{command: func(e *env) ([]string, error) {
		program, dir, err := e.served()
		return clientsOf(append([]string{program}, trainingOf(dir, "serve", "--var", servedUpdates, "--listen", "127.0.0.1:0", "-m", "step.train.tiny", "--beams", "4", "-k", "4")...)), err
	}},
	peer: side{command: func(e *env) ([]string, error) {
		_, dir, err := e.served()
		if err != nil {
			return nil, err
		}
		command, err := e.python("models", "serve.py", filepath.Join(dir, "served"))
		return clientsOf(command), err
	}, is: transformers + ", float32, a vectorized logits processor, http.server"},
}}

// servedUpdates is the training of the model that is served: a model with identifiers is needed, and not a good one.
const servedUpdates = "updates=2"

// served are redsi and a folder with a trained model, as a result and, in served, as export_model writes it.
func (e *env) served() (program, dir string, err error) {
	if program, dir, err = e.trained(); err != nil {
		return program, dir, err
	}
	once, _ := e.kept.LoadOrStore("served", sync.OnceValue(func() error {
		if err := e.quiet(program, trainingOf(dir, "run", "-t", "step.export_model.tiny", "--var", servedUpdates, "--out", filepath.Join(dir, "results"))...); err != nil {
			return err
		}
		return e.quiet(program, trainingOf(dir, "artifacts", "get", "step.export_model.tiny.files", filepath.Join(dir, "served"), "--force", "--var", servedUpdates)...)
	}))
	return program, dir, once.(func() error)()
}

// clientsOf is the piece that starts a server by a command and asks it.
func clientsOf(command []string) []string {
	return ours("clients", append([]string{onProcessor[0]}, command...)...)
}

const (
	clients        = 200
	askedQuestions = 3 // by each, one after the other
	askedAlone     = 8 // before, one at a time; their documents are the check
)

type traffic struct {
	P50     float64 `json:"p50_ms"` // from the first try on
	P99     float64 `json:"p99_ms"`
	Rate    float64 `json:"answers_a_second"`
	Refused int     `json:"refused"` // tries that were told to retry
}

func (t *traffic) beside(peer *traffic) string {
	return fmt.Sprintf("half within %.4g / %.4g ms; %.4g / %.4g answers a second; %d / %d refused", t.P50, peer.P50, t.Rate, peer.Rate, t.Refused, peer.Refused)
}

var p99 = value{"ms", func(s sample) float64 { return s.Traffic.P99 }, false}

// clientsWork starts the server whose command it is given, and ends it. A slice is what all clients ask.
func clientsWork(p *placed, w *workload) error {
	c := exec.Command(p.args[0], p.args[1:]...)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	p.later(func() { _ = errors.Join(c.Process.Signal(os.Interrupt), c.Wait()) }) // what it has answered counts, not how it ends
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("%s gave no address: %w", c, err)
	}
	s := site{address: strings.TrimSpace(address), http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}}
	w.warm = func() error {
		for i := range askedAlone {
			found, _, err := s.ask(i)
			if err != nil {
				return err
			}
			w.check += found + "; "
		}
		_, err := w.run()
		return err
	}
	w.run = func() (float64, error) {
		w.traffic, err = s.byAll()
		return clients * askedQuestions, err
	}
	return nil
}

type site struct {
	address string
	http    *http.Client
}

func (s site) byAll() (*traffic, error) {
	var mu sync.Mutex
	var t traffic
	var took []float64
	var failed error
	all := stopwatch()
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			for k := range askedQuestions {
				one := stopwatch()
				_, refused, err := s.ask(i*askedQuestions + k)
				mu.Lock()
				took, t.Refused, failed = append(took, 1e3*one()), t.Refused+refused, errors.Join(failed, err)
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	slices.Sort(took)
	t.P50, t.P99, t.Rate = took[len(took)/2], took[len(took)*99/100], float64(len(took))/all()
	return &t, failed
}

// ask asks until there is an answer, whose documents it returns, and says how often it was told to retry.
func (s site) ask(question int) (found string, refused int, err error) {
	for ; ; refused++ {
		resp, err := s.http.Get(s.address + "search?q=" + url.QueryEscape(fmt.Sprintf("who wrote the book about castle number %d", question)))
		if err != nil {
			return "", refused, err
		}
		var answer struct{ Results []struct{ Document string } }
		err = json.NewDecoder(resp.Body).Decode(&answer)
		io.Copy(io.Discard, resp.Body) // so that the connection is reused
		resp.Body.Close()
		switch {
		case resp.StatusCode == http.StatusServiceUnavailable:
			after, err := strconv.Atoi(resp.Header.Get("Retry-After"))
			if err != nil {
				return "", refused, fmt.Errorf("refused without a time to retry: %w", err)
			}
			time.Sleep(time.Duration(after) * time.Second)
		case err != nil || resp.StatusCode != http.StatusOK || len(answer.Results) == 0:
			return "", refused, fmt.Errorf("%s: %d documents: %v", resp.Status, len(answer.Results), err)
		default:
			documents := lists.Map(answer.Results, func(r struct{ Document string }) string { return r.Document })
			return strings.Join(documents, " "), refused, nil
		}
	}
}
