package compute

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/host/scratch"
	"github.com/redsi/redsi/internal/host/stepio"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/stores/open"
	"github.com/redsi/redsi/internal/system"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/step"
)

// Serving is what a process computes with.
type Serving struct {
	Build      string
	Env        map[string]string // recorded with every result, such as libtorch's version
	Registry   *step.Registry
	Facts      func() device.Facts
	Exact      bool // results are the same bits for any number of threads
	Threads    func() int
	SetThreads func(int)
	Explain    func(error) error                                              // adds to a step's error what it means for the card; may be nil
	CardMemory func() (now, most int64, ok bool)                              // of the process's tensors on its card, in bytes; may be nil
	Energy     []usage.Counter                                                // of what it computes on
	Calls      map[string]func(context.Context, json.RawMessage) (any, error) // besides runs
}

// Task is a step for a process.
type Task struct {
	Step       string             `json:"step"` // its address, for people
	Key        artifacts.Digest   `json:"key"`
	Trajectory *artifacts.Digest  `json:"trajectory,omitempty"`
	Task       step.Task          `json:"task"`
	Parts      []artifacts.Result `json:"parts,omitempty"`
}

// ThreadsNote is the note that says with how many threads a computing step began.
const ThreadsNote = "threads"

// Serve answers messages from in until in ends: the parent has ended, or does not need the process any more. Signals
// are left to the parent.
func Serve(s Serving, in io.Reader, out io.Writer) error {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP) // programs would inherit that they are ignored
	for _, pipe := range []any{in, out} {
		if f, ok := pipe.(*os.File); ok {
			system.CloseOnExec(f) // a program that a step leaves behind must not keep it open
		}
	}
	w := &writer{w: out}
	p := &server{Serving: s, w: w, calls: map[int64]context.CancelFunc{}, queue: make(chan func(), 64), area: scratch.In(scratch.DefaultRoot()),
		meter: usage.New(usage.Here(s.Energy...)), log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	kinds := map[string]string{}
	for _, k := range s.Registry.Kinds() {
		if k.Needs != "" {
			kinds[k.Name] = k.Fingerprint()
		}
	}
	if err := w.send(message{Hello: &hello{protocol, s.Build, kinds, s.Exact}}); err != nil {
		return err
	}
	defer p.end()
	p.all.Go(func() {
		runtime.LockOSThread() // libtorch keeps a pool of threads for each calling thread
		defer runtime.UnlockOSThread()
		for do := range p.queue {
			do()
		}
	})
	serving, stop := context.WithCancel(context.Background())
	defer stop()
	var taking sync.Mutex // a process that is stuck at a message is not alive: libtorch blocks for ever if the system gives it no threads
	go func() {
		for readers.Pause(serving, aliveEvery) == nil {
			if !taking.TryLock() {
				continue
			}
			taking.Unlock()
			if w.send(message{Alive: true}) != nil {
				return
			}
		}
	}()
	r := bufio.NewReader(in)
	for {
		m, err := receive(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		taking.Lock()
		p.take(m)
		taking.Unlock()
	}
}

type server struct {
	Serving
	w     *writer
	area  *scratch.Area
	meter *usage.Meter
	log   *slog.Logger

	mu    sync.Mutex
	setup Setup
	calls map[int64]context.CancelFunc
	all   sync.WaitGroup
	queue chan func() // calls, which are done one after another on the same system thread

	opening sync.Mutex // of its own, since opening a bucket takes long and calls can be cancelled meanwhile
	store   *artifacts.Resolver
	opened  string // its address
}

func (p *server) take(m message) {
	switch {
	case m.Setup != nil:
		p.mu.Lock()
		p.setup = *m.Setup
		p.mu.Unlock()
		p.threads(m.Setup.Threads)
	case m.Threads > 0:
		p.threads(m.Threads)
	case m.Cancel:
		p.mu.Lock()
		cancel := p.calls[m.ID]
		p.mu.Unlock()
		if cancel != nil {
			cancel()
		}
	case m.Call != nil:
		ctx, cancel := context.WithCancel(context.Background())
		p.mu.Lock()
		p.calls[m.ID] = cancel
		p.mu.Unlock()
		p.queue <- func() {
			p.answer(ctx, m.ID, *m.Call)
			cancel()
			p.mu.Lock()
			delete(p.calls, m.ID)
			p.mu.Unlock()
		}
	}
}

func (p *server) threads(n int) {
	if n > 0 && p.SetThreads != nil {
		p.SetThreads(n)
	}
}

// end interrupts the running call, which may go on for five seconds, and removes its folders.
func (p *server) end() {
	p.mu.Lock()
	for _, cancel := range p.calls {
		cancel()
	}
	p.mu.Unlock()
	close(p.queue)
	ended := make(chan struct{})
	go func() { p.all.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		p.area.EndPrograms()
	}
	if err := p.area.Close(); err != nil {
		p.log.Warn("folders of steps", "err", err)
	}
}

func (p *server) answer(ctx context.Context, id int64, c call) {
	var value any
	p.mu.Lock()
	if card := p.setup.Card; card != "" {
		ctx = device.Give(ctx, card)
	}
	p.mu.Unlock()
	err := stepio.Guard(func() (err error) {
		switch other := p.Calls[c.Name]; {
		case c.Name == runCall:
			value, err = p.run(ctx, id, c.Args)
		case c.Name == factsCall:
			value = p.Facts()
		case other != nil:
			value, err = other(ctx, c.Args)
		default:
			err = fmt.Errorf("there is no call %q", c.Name)
		}
		return err
	})
	if err != nil && p.Explain != nil {
		err = p.Explain(err)
	}
	body, encodeErr := json.Marshal(value)
	if encodeErr != nil && err == nil {
		err = encodeErr
	}
	err = p.w.send(message{ID: id, Reply: &reply{body, encodeError(err)}})
	if errors.Is(err, errLong) {
		err = p.w.send(message{ID: id, Reply: &reply{Error: encodeError(step.Permanent(err))}})
	}
	if err != nil {
		p.log.Error("the answer cannot be given", "err", err)
	}
}

func (p *server) run(ctx context.Context, id int64, args json.RawMessage) (o stepio.Outcome, err error) {
	var t Task
	if err := json.Unmarshal(args, &t); err != nil {
		return o, step.Permanent(err)
	}
	spec := p.Registry.Lookup(t.Task.Kind)
	if spec == nil {
		return o, step.Permanent(fmt.Errorf("%s: the program that computes this has no kind %q: build it with that (models.Main)", t.Step, t.Task.Kind))
	}
	if key, _, err := p.Registry.Key(t.Task); err != nil || key != t.Key {
		return o, step.Permanent(fmt.Errorf("%s has another key here: %s and %s, %w", t.Step, key, t.Key, errors.Join(err, errBuild)))
	}
	tree, err := t.Task.Tree()
	if err != nil {
		return o, step.Permanent(err)
	}
	store, setup, err := p.open(ctx)
	if err != nil {
		return o, err
	}
	progress := p.reporter(id)
	defer progress.end()
	log := slog.New(&handler{p.w, id, nil})
	host := &stepio.Host{Store: store, CacheDir: setup.CacheDir, Areas: p.area, Log: log, Key: t.Key, Path: t.Trajectory, Progress: progress.report}
	x := step.NewIO(ctx, spec, host, log, t.Parts)
	x.Cache, x.Stderr = setup.CacheDir, said{p.w, id}
	if spec.Needs == step.Libtorch && p.Threads != nil {
		x.Note(ThreadsNote, strconv.Itoa(p.Threads()))
	}
	span := p.meter.Begin()
	if setup.Card != "" && setup.Card != "cpu" {
		facts := p.Facts().Of(0)
		for _, f := range facts {
			x.Note(f.Name, f.Text)
		}
		if p.CardMemory != nil {
			span.OnCard(usage.Card{Name: facts[0].Text, Memory: usage.Level{
				Now:  func() (int64, bool) { now, _, ok := p.CardMemory(); return now, ok },
				High: func() (int64, bool) { _, most, ok := p.CardMemory(); return most, ok },
			}})
		}
	}
	o, err = stepio.Do(ctx, x, spec, tree, span.End)
	if o.Env == nil {
		o.Env = map[string]string{}
	}
	maps.Copy(o.Env, p.Env)
	return o, err
}

// open returns the store and the setup; a store is opened once for successive steps.
func (p *server) open(ctx context.Context) (*artifacts.Resolver, Setup, error) {
	p.mu.Lock()
	setup := p.setup
	p.mu.Unlock()
	p.opening.Lock()
	defer p.opening.Unlock()
	if p.store == nil || p.opened != setup.Store {
		s, err := open.Store(ctx, setup.Store)
		if err != nil {
			return nil, setup, err
		}
		p.store, p.opened = artifacts.Alone(s), setup.Store
	}
	return p.store, setup, nil
}

// reportEvery is the least time between two reports of a step's progress.
const reportEvery = 200 * time.Millisecond

// reporter sends the newest progress of a step from time to time.
type reporter struct {
	w      *writer
	id     int64
	mu     sync.Mutex
	unsent *step.Progress
	at     *time.Timer
}

func (p *server) reporter(id int64) *reporter {
	r := &reporter{w: p.w, id: id}
	r.at = time.AfterFunc(reportEvery, r.send)
	r.at.Stop()
	return r
}

func (r *reporter) report(p step.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unsent == nil {
		r.at.Reset(reportEvery)
	}
	r.unsent = &p
}

func (r *reporter) send() {
	r.mu.Lock()
	p := r.unsent
	r.unsent = nil
	r.mu.Unlock()
	if p != nil {
		_ = r.w.send(message{ID: r.id, Progress: p}) // an error says that the parent is gone: the pipe ends, too
	}
}

func (r *reporter) end() {
	r.at.Stop()
	r.send()
}

// said sends what a step's programs write on standard error.
type said struct {
	w  *writer
	id int64
}

func (s said) Write(b []byte) (int, error) {
	return len(b), s.w.send(message{ID: s.id, Said: b})
}

// handler sends log lines from level info on; nobody keeps others.
type handler struct {
	w     *writer
	id    int64
	attrs [][2]string
}

func (h *handler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

func (h *handler) Handle(_ context.Context, r slog.Record) error {
	l := &line{Level: r.Level, Text: r.Message, Attrs: slices.Clip(h.attrs)}
	r.Attrs(func(a slog.Attr) bool {
		l.Attrs = append(l.Attrs, pair(a))
		return true
	})
	return h.w.send(message{ID: h.id, Log: l})
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.w, h.id, slices.Concat(h.attrs, lists.Map(attrs, pair))}
}

func pair(a slog.Attr) [2]string { return [2]string{a.Key, a.Value.Resolve().String()} }

func (h *handler) WithGroup(string) slog.Handler { return h }
