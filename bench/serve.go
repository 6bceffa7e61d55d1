package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
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
)

// servedModel is the toy model with the longest identifiers.
const servedModel = `step.train.dsi["title/nci_norm/tiny/naive/42"]`

var serveLine = line{
	name: "serve_200_p99_vs_2s", target: 1, value: seconds,
	doc:  "the slowest hundredth of the answers of redsi serve to 200 clients that ask without pause, from the first try on, the toy model, against a bound of 2 s",
	ours: served("-clients=200"), peer: side{bound: 2},
}

// served drives the server of a toy model that is trained once; the programs are
// built for each run.
func served(args ...string) side {
	return side{command: func(e *env) ([]string, error) {
		program, err := e.redsi()
		if err != nil {
			return nil, err
		}
		dir, err := e.keep("serve1", func(dir string) error {
			return e.quiet(program, toy(dir, "run", "-t", servedModel, "--out", filepath.Join(dir, "results"))...)
		})
		return ours("serve", append(slices.Clone(args), program, dir)...), err
	}}
}

// toy are the arguments of a verb on the toy scale of the paper.
func toy(dir, verb string, more ...string) []string {
	return append([]string{verb, "--var", "scale=toy", "--state", filepath.Join(dir, "state"), "--log-level", "warn"}, more...)
}

// Clients ask so many questions each; those before do not count.
const (
	warmQuestions  = 2
	askedQuestions = 10
)

// driveServer starts a server and asks it from many connections at once. Seconds is
// the 99th percentile of the answers; those told to come later do, which is in their time.
func driveServer(args []string) (s sample, err error) {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	clients := set.Int("clients", 200, "")
	if err := set.Parse(args); err != nil {
		return s, err
	}
	c := exec.Command(set.Arg(0), toy(set.Arg(1), "serve", "--listen", "127.0.0.1:0", "-m", servedModel)...)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return s, err
	}
	if err := c.Start(); err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, c.Process.Signal(os.Interrupt), c.Wait()) }()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return s, fmt.Errorf("the server gave no address: %w", err)
	}
	d := driver{address: strings.TrimSpace(address), http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: *clients}}}
	if err := d.run(*clients, warmQuestions); err != nil {
		return s, err
	}
	d.took, d.sentAway = nil, 0
	start := time.Now()
	if err := d.run(*clients, askedQuestions); err != nil {
		return s, err
	}
	slices.Sort(d.took)
	n := len(d.took)
	at := func(share float64) time.Duration {
		return d.took[min(n-1, int(share*float64(n)))].Round(time.Millisecond)
	}
	fmt.Fprintf(os.Stderr, "  %d answers, %.0f a second; half within %s, 99 of 100 within %s, all within %s; %d times sent away\n",
		n, float64(n)/time.Since(start).Seconds(), at(0.5), at(0.99), d.took[n-1].Round(time.Millisecond), d.sentAway)
	return sample{Seconds: at(0.99).Seconds(), Work: float64(n), Check: strconv.Itoa(n)}, nil
}

// driver is many clients of one server.
type driver struct {
	address string
	http    *http.Client

	mu       sync.Mutex
	took     []time.Duration
	sentAway int
	err      error
}

// run lets each client have its questions answered, one after the other.
func (d *driver) run(clients, questions int) error {
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			for k := range questions {
				q := fmt.Sprintf("who wrote the book about the castle number %d of %d", i*questions+k, k)
				if err := d.ask(q); err != nil {
					d.mu.Lock()
					d.err = errors.Join(d.err, err)
					d.mu.Unlock()
					return
				}
			}
		})
	}
	wg.Wait()
	return d.err
}

// ask asks until there is an answer, and notes how long that took from the first try on.
func (d *driver) ask(question string) error {
	start := time.Now()
	for {
		resp, err := d.http.Get(d.address + "search?k=10&q=" + url.QueryEscape(question))
		if err != nil {
			return err
		}
		var answer struct{ Results []json.RawMessage }
		err = json.NewDecoder(resp.Body).Decode(&answer)
		io.Copy(io.Discard, resp.Body) // so that the connection is used again
		resp.Body.Close()
		switch {
		case resp.StatusCode == http.StatusServiceUnavailable:
			after, err := strconv.Atoi(resp.Header.Get("Retry-After"))
			if err != nil {
				return fmt.Errorf("sent away without a time to come back: %w", err)
			}
			d.mu.Lock()
			d.sentAway++
			d.mu.Unlock()
			time.Sleep(time.Duration(after) * time.Second)
			continue
		case err != nil || resp.StatusCode != http.StatusOK || len(answer.Results) != 10:
			return fmt.Errorf("%s: %d documents: %v", resp.Status, len(answer.Results), err)
		}
		d.mu.Lock()
		d.took = append(d.took, time.Since(start))
		d.mu.Unlock()
		return nil
	}
}
