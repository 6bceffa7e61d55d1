package compute

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/host/nvidia"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/host/scratch"
	"github.com/redsi/redsi/internal/host/stepio"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

// Options say which program computes, and how its processes are kept.
type Options struct {
	Program  string   // its path; Find finds it
	Env      []string // besides this process's
	Build    string   // which the program must be of
	Registry *step.Registry
	CacheDir string
	Log      *slog.Logger
	Idle     time.Duration // after which a free process is ended; 0: three minutes
}

// Name is the second program's name, and Variable the environment variable that may name another program.
const (
	Name     = "redsi-models"
	Variable = "REDSI_MODELS"
)

// Find returns the path of the second program: from Variable, beside this program, or in lib beside this program's
// folder, as in an archive. If there is none it is the place beside this program, for an error to name.
func Find() string {
	if named := os.Getenv(Variable); named != "" {
		return named
	}
	self := revision.Program()
	if self == "" {
		return Name
	}
	dir := filepath.Dir(self)
	beside := filepath.Join(dir, Name)
	for _, path := range []string{beside, filepath.Join(dir, "lib", Name), filepath.Join(filepath.Dir(dir), "lib", Name)} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return beside
}

// Pool keeps processes of the second program: one for each running step, reused by later steps. A process that computes
// on a card sees only that card. Nothing is started before it is needed. A nil Pool has no program.
type Pool struct {
	o Options

	mu      sync.Mutex
	free    []*process
	all     map[*process]bool
	threads int
	share   int // see Share
	facts   *device.Facts
	deaths  map[artifacts.Digest]int
	closed  bool
}

// New makes a pool.
func New(o Options) *Pool {
	o.Idle = cmp.Or(o.Idle, 3*time.Minute)
	return &Pool{o: o, all: map[*process]bool{}, deaths: map[artifacts.Digest]int{}}
}

// SetThreads sets with how many threads an operation computes from now on, in all processes.
func (p *Pool) SetThreads(n int) { p.set(func() { p.threads = n }) }

// Share sets how many threads an operation has at all times, in processes whose results depend on the number.
func (p *Pool) Share(n int) { p.set(func() { p.share = n }) }

// set changes how many threads an operation has, and tells all processes. There may be no pool.
func (p *Pool) set(change func()) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	for c := range p.all {
		_ = c.w.send(message{Threads: p.threadsOf(c)}) // that a process has ended shows at its next call
	}
}

// threadsOf returns how many threads an operation of a process has; it is called locked.
func (p *Pool) threadsOf(c *process) int {
	if !c.exact && p.share > 0 {
		return p.share
	}
	return p.threads
}

// Facts returns what the program finds on this machine. The program is started for that, once.
func (p *Pool) Facts(ctx context.Context) (device.Facts, error) {
	if p == nil {
		return device.Facts{}, errNoProgram
	}
	p.mu.Lock()
	cached := p.facts
	p.mu.Unlock()
	if cached != nil {
		return *cached, nil
	}
	var f device.Facts
	err := p.With(ctx, device.Processors, "", func(c *Client) error { return c.Call(ctx, factsCall, nil, &f) })
	if err == nil {
		p.mu.Lock()
		p.facts = &f
		p.mu.Unlock()
	}
	return f, err
}

// Check starts the program and says what keeps it from computing. The process is kept for the first step.
func (p *Pool) Check(ctx context.Context) error {
	return p.With(ctx, device.Processors, "", func(*Client) error { return nil })
}

// Cards returns how many cards steps may compute on, or why none. Without signs of a card no program is started.
func (p *Pool) Cards(ctx context.Context) (device.CUDA, error) {
	if !nvidia.Signs() {
		return device.CUDA{Why: "no NVIDIA driver"}, nil
	}
	f, err := p.Facts(ctx)
	return f.CUDA, err
}

// Run has a step computed with the store at an address, on a card of this machine or on the processors. log takes what
// the step logs, said its standard error. If the step's process is lost, the error is Poisoned, and Deaths counts it.
func (p *Pool) Run(ctx context.Context, t Task, store string, card int, log *slog.Logger, said io.Writer) (o stepio.Outcome, err error) {
	if p == nil {
		return o, errNoProgram
	}
	if store == "" || strings.HasPrefix(store, "mem:") {
		return o, step.Permanent(errors.New("a store in memory cannot be read by the program that computes this: use a folder or s3://"))
	}
	asked := false // the step is not to blame for a process that was lost before
	err = p.With(ctx, card, store, func(c *Client) error {
		asked = true
		c.log, c.said, c.progress = log, said, step.Reporter(ctx)
		return c.Call(ctx, runCall, t, &o)
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !asked:
	case step.IsPoisoned(err):
		p.deaths[t.Key]++
	default:
		delete(p.deaths, t.Key)
	}
	return o, err
}

// Deaths returns how many processes in a row the step of a key has cost.
func (p *Pool) Deaths(key artifacts.Digest) int {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.deaths[key]
}

// Client asks a process.
type Client struct {
	p        *process
	log      *slog.Logger
	said     io.Writer
	progress func(step.Progress)
}

// With calls f with a process, which f has until it returns.
func (p *Pool) With(ctx context.Context, card int, store string, f func(*Client) error) error {
	c, err := p.Hold(ctx, card, store)
	if err != nil {
		return err
	}
	err = f(c)
	p.Release(c, err)
	return err
}

// Hold returns a process, free before or new, to be given back by Release.
func (p *Pool) Hold(ctx context.Context, card int, store string) (*Client, error) {
	if p == nil || p.o.Program == "" {
		return nil, errNoProgram
	}
	p.mu.Lock()
	closed := p.closed
	for i, c := range slices.Backward(p.free) { // the last used first
		if c.card != card {
			continue
		}
		p.free = slices.Delete(p.free, i, i+1)
		if c.idle.Stop() && !c.unusable() && p.setup(c, store) == nil {
			p.mu.Unlock()
			return &Client{p: c}, nil
		}
		go p.end(c) // it was lost while it was free
	}
	facts := p.facts
	p.mu.Unlock()
	if closed {
		return nil, errEnding
	}
	env := p.o.Env
	if card >= 0 {
		name := device.Visible([]int{card})
		if facts != nil && card < len(facts.Process.Cards) {
			name = cmp.Or(facts.Process.Cards[card].UUID, name)
		}
		env = append(slices.Clone(env), nvidia.VisibleVariable+"="+name)
	}
	c, err := start(ctx, p.o, env, card)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.all[c] = true
	if closed = p.closed; !closed {
		err = p.setup(c, store)
	}
	p.mu.Unlock()
	switch {
	case closed:
		err = errEnding
	case err != nil:
		err = c.lost()
	default:
		return &Client{p: c}, nil
	}
	p.end(c)
	return nil, err
}

// setup tells a process what it needs to know; it is called locked, so that the newest values come last.
func (p *Pool) setup(c *process, store string) error {
	s := Setup{Store: store, CacheDir: p.o.CacheDir, Threads: p.threadsOf(c)}
	switch {
	case c.card >= 0:
		s.Card = "cuda:0" // the only card that it sees
	case store != "":
		s.Card = "cpu"
	}
	return c.w.send(message{Setup: &s})
}

// end ends a process, and removes its folders if it was lost.
func (p *Pool) end(c *process) {
	lost := c.unusable()
	c.end()
	p.mu.Lock()
	delete(p.all, c)
	p.mu.Unlock()
	if !lost {
		return
	}
	if _, err := scratch.In(scratch.DefaultRoot()).Sweep(); err != nil && p.o.Log != nil {
		p.o.Log.Warn("what a lost process left in its folders", "err", err)
	}
}

// Release keeps a process for others, until none has taken it for a while. It ends a process that was lost, or whose
// last error says that it cannot be trusted any more.
func (p *Pool) Release(of *Client, last error) {
	c := of.p
	if step.IsPoisoned(last) || c.unusable() {
		p.end(c)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return // Close ends it
	}
	p.free = append(p.free, c)
	c.idle = time.AfterFunc(p.o.Idle, func() {
		p.mu.Lock()
		p.free = slices.DeleteFunc(p.free, func(o *process) bool { return o == c })
		p.mu.Unlock()
		p.end(c)
	})
}

// Close ends all processes.
func (p *Pool) Close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.closed = true
	all := slices.Collect(maps.Keys(p.all))
	p.free = nil
	p.mu.Unlock()
	var ended sync.WaitGroup
	for _, c := range all {
		ended.Go(func() { p.end(c) })
	}
	ended.Wait()
}

// Call asks for something and waits for the answer, which is read into result. The end of ctx cancels the call in the
// process, which then has a while to answer with what it has.
func (c *Client) Call(ctx context.Context, name string, args, result any) error {
	body, err := json.Marshal(args)
	if err != nil {
		return err
	}
	r, err := c.p.call(ctx, call{name, body}, c)
	if err != nil {
		return err
	}
	if result != nil && len(r.Value) > 0 {
		if err := json.Unmarshal(r.Value, result); err != nil {
			return err
		}
	}
	return r.Error.decode()
}

// take handles what a process says of a call.
func (c *Client) take(ctx context.Context, m message) {
	switch {
	case m.Progress != nil && c.progress != nil:
		c.progress(*m.Progress)
	case m.Said != nil && c.said != nil:
		_, _ = c.said.Write(m.Said) // a step log takes all
	case m.Log != nil && c.log != nil:
		attrs := lists.Map(m.Log.Attrs, func(a [2]string) slog.Attr { return slog.String(a[0], a[1]) })
		c.log.LogAttrs(ctx, m.Log.Level, m.Log.Text, attrs...)
	}
}
