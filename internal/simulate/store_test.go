package simulate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/readers"
)

// A shelf is the store of a world. Whoever uses it has a view of it of its own.
type shelf struct {
	d      draw
	tr     *trace
	base   artifacts.Store
	faults []fault
	over   chan struct{} // closed at the end, when the calls of the dead return

	mu     sync.Mutex
	healed bool
	harmed map[artifacts.Digest]bool // blobs that were damaged or lost
	bad    map[artifacts.Digest]bool // of these, those with other bytes now
	stored []stored
	holder map[string]*view // of leases, who wrote them last
}

func newShelf(d draw, tr *trace, faults []fault) *shelf {
	return &shelf{d: d, tr: tr, base: mem.New(), faults: faults, over: make(chan struct{}),
		harmed: map[artifacts.Digest]bool{}, bad: map[artifacts.Digest]bool{}, holder: map[string]*view{}}
}

// heal ends all faults.
func (s *shelf) heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.healed = true
}

// now is a fault that there is, or nil.
func (s *shelf) now(what string) *fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.healed {
		return nil
	}
	at := s.tr.now()
	for i := range s.faults {
		if f := &s.faults[i]; f.What == what && f.At <= at && at < f.At+f.For {
			return f
		}
	}
	return nil
}

// harm damages or loses a blob that a result names, if there is one.
func (s *shelf) harm(d draw, what string) {
	ctx := context.Background()
	names, err := artifacts.RecordNames(ctx, s.base.Records, artifacts.ResultsPrefix)
	if err != nil || len(names) == 0 {
		return
	}
	key, err := artifacts.ParseHex(strings.TrimPrefix(names[d.n(len(names))], artifacts.ResultsPrefix))
	if err != nil {
		return
	}
	r, err := artifacts.Lookup(ctx, s.base, key)
	if err != nil || r == nil {
		return
	}
	var blobs []artifacts.Digest
	for _, a := range r.Outputs {
		blobs = append(blobs, a.Blobs()...)
	}
	if len(blobs) == 0 {
		return
	}
	slices.SortFunc(blobs, artifacts.Digest.Compare)
	b := blobs[d.of("blob").n(len(blobs))]
	s.tr.tell("%s of %s", what, r.Origin.Step)
	s.hurt(b, what)
}

// hurt damages a blob, or takes it from the store.
func (s *shelf) hurt(b artifacts.Digest, what string) {
	s.tr.tell("%s: %s", what, short(b))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stored = append(s.stored, stored{at: s.tr.now(), what: "gone", blobs: []artifacts.Digest{b}})
	if s.harmed[b] = true; what == "damage" {
		s.bad[b] = true
	} else {
		_ = s.base.Blobs.Delete(context.Background(), b) // of a store in memory
	}
}

// noted remembers what a call has changed.
func (v *view) noted(c *storetest.Call) {
	now := stored{at: v.tr.now()}
	key, err := artifacts.ParseHex(strings.TrimPrefix(c.Name, artifacts.ResultsPrefix))
	switch {
	case c.Method == storetest.BlobsDelete:
		now.what, now.blobs = "gone", []artifacts.Digest{c.Digest}
	case !strings.HasPrefix(c.Name, artifacts.ResultsPrefix) || err != nil:
		return
	case c.Method == storetest.RecordsDelete:
		now.what, now.key = "result gone", key
	default:
		r, err := artifacts.Lookup(context.Background(), v.base, key)
		if err != nil || r == nil { // it has lost its blobs
			return
		}
		now.what, now.key = "result", key
		for _, a := range r.Outputs {
			now.blobs = append(now.blobs, a.Blobs()...)
		}
	}
	v.shelf.mu.Lock()
	defer v.shelf.mu.Unlock()
	v.stored = append(v.stored, now)
}

// A view is the store as a process sees it.
type view struct {
	*shelf
	who  string
	dead chan struct{} // closed when it is killed

	mu    sync.Mutex
	calls map[string]int
}

func (s *shelf) view(who string) (*view, artifacts.Store) {
	v := &view{shelf: s, who: who, dead: make(chan struct{}), calls: map[string]int{}}
	late := artifacts.Store{Blobs: s.base.Blobs, Records: lateLists{s.base.Records, v}, URL: s.base.URL}
	leases := artifacts.Store{Blobs: s.base.Blobs, Records: lateLists{s.base.Leases, v}}
	out := storetest.Hooked(late, v.hook(""))
	out.Leases = storetest.Hooked(leases, v.hook("lease ")).Records
	return v, out
}

// left is the store without faults, but with what is damaged.
func (s *shelf) left() artifacts.Store {
	v := &view{shelf: s}
	out := storetest.Hooked(s.base, func(_ context.Context, c *storetest.Call, next func() error) error {
		err := next()
		v.spoil(c, err)
		return err
	})
	out.Leases = s.base.Leases
	return out
}

// lateLists are records whose list is as it was when it was asked for, and may come late.
type lateLists struct {
	artifacts.Records
	v *view
}

func (l lateLists) List(ctx context.Context, prefix string) iter.Seq2[artifacts.RecordInfo, error] {
	return func(yield func(artifacts.RecordInfo, error) bool) {
		var all []artifacts.RecordInfo
		for r, err := range l.Records.List(ctx, prefix) {
			if err != nil {
				yield(r, err)
				return
			}
			all = append(all, r)
		}
		if f := l.v.now("stale-list"); f != nil {
			if d := l.v.next("stale-list", prefix); d.chance(f.Rate) {
				if err := l.v.pause(ctx, d.of("for").span(time.Second, 6*time.Second)); err != nil {
					yield(artifacts.RecordInfo{}, err)
					return
				}
			}
		}
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// next is the draw of a call: the same for the same process, method, name and number of such calls.
func (v *view) next(method, name string) draw {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.calls[method+name]++
	return v.d.of("store", v.who, method, name, v.calls[method+name])
}

var (
	errDead = &artifacts.RefusedError{Err: errors.New("this process is dead")}
	errAway = errors.New("connection refused")
	errSlow = errors.New("503 Slow Down: reduce your request rate")
	errLost = errors.New("connection reset by peer")
)

// pause waits. Whoever is dead by then waits for the end of the world.
func (v *view) pause(ctx context.Context, d time.Duration) error {
	select {
	case <-v.dead:
	case <-ctx.Done():
	case <-time.After(d):
	}
	select {
	case <-v.dead:
		<-v.over
		return errDead
	default:
		return context.Cause(ctx)
	}
}

// ended reports whether a call comes from the dead after the end: those that tidy up believe
// that they did.
func (v *view) ended() bool {
	select {
	case <-v.over:
		return v.killed()
	default:
		return false
	}
}

func (v *view) killed() bool {
	select {
	case <-v.dead:
		return true
	default:
		return false
	}
}

func (v *view) hook(room string) storetest.Hook {
	lease := room != ""
	return func(ctx context.Context, c *storetest.Call, next func() error) error {
		err := v.call(ctx, room, c, next)
		if lease && v.ended() {
			return nil
		}
		return err
	}
}

// call is a call of the store as the faults of the moment have it. What it does is done at one
// moment between its begin and its end.
func (v *view) call(ctx context.Context, room string, c *storetest.Call, next func() error) error {
	if err := context.Cause(ctx); err != nil && !v.killed() {
		return err
	}
	name, err := calledOn(c)
	if err != nil {
		return err
	}
	method := room + string(c.Method)
	d := v.next(method, name)
	err = v.acted(ctx, d, room != "", c, next)
	if err != errDead {
		v.tr.note("%s: %s %s: %v", v.who, method, name, err)
	}
	return err
}

func (v *view) acted(ctx context.Context, d draw, lease bool, c *storetest.Call, next func() error) error {
	wait := d.span(time.Millisecond, 30*time.Millisecond)
	if d.of("rare").chance(0.02) {
		wait = d.span(200*time.Millisecond, 400*time.Millisecond)
	}
	if f := v.now("slow"); f != nil && d.of("slow").chance(f.Rate) {
		wait += d.of("slow", "for").span(time.Second, 8*time.Second)
	}
	if err := v.pause(ctx, wait); err != nil {
		return err
	}
	if v.now("outage") != nil {
		if d.of("hangs").chance(0.3) { // a packet that nobody answers
			if err := v.pause(ctx, d.of("hangs", "for").span(time.Second, 20*time.Second)); err != nil {
				return err
			}
		}
		return errAway
	}
	if f := v.now("throttle"); f != nil && d.of("throttle").chance(f.Rate) {
		return errSlow
	}
	err := next()
	v.spoil(c, err)
	if !writes(c.Method) {
		return err
	}
	if err == nil && lease {
		v.shelf.mu.Lock()
		v.holder[c.Name] = v
		v.shelf.mu.Unlock()
	} else if err == nil {
		v.noted(c)
	}
	if perr := v.pause(ctx, d.of("answer").span(time.Millisecond, 10*time.Millisecond)); perr != nil {
		return perr
	}
	if f := v.now("lost-answer"); f != nil && d.of("lost").chance(f.Rate) {
		return errLost
	}
	return err
}

func writes(m storetest.Method) bool {
	switch m {
	case storetest.BlobsPut, storetest.BlobsDelete, storetest.RecordsCreate, storetest.RecordsPut, storetest.RecordsReplace, storetest.RecordsDelete:
		return true
	}
	return false
}

// calledOn names what a call is about. The bytes of a blob are read for that.
func calledOn(c *storetest.Call) (string, error) {
	switch {
	case c.Method == storetest.BlobsPut:
		b, err := io.ReadAll(c.Read)
		c.Read = bytes.NewReader(b)
		return short(artifacts.Sum(b)), err
	case c.Method == storetest.BlobsMissing && len(c.Gone) > 0:
		return fmt.Sprint(short(c.Gone[0]), len(c.Gone)), nil
	case c.Name != "":
		return c.Name, nil
	}
	return short(c.Digest), nil
}

// spoil has what was read of a damaged blob be so, and what was put anew whole.
func (v *view) spoil(c *storetest.Call, err error) {
	v.shelf.mu.Lock()
	defer v.shelf.mu.Unlock()
	switch {
	case err != nil || len(v.bad) == 0:
	case c.Method == storetest.BlobsDelete:
		delete(v.bad, c.Digest)
	case c.Method == storetest.BlobsPut:
		b, _ := io.ReadAll(io.NewSectionReader(c.Read.(*bytes.Reader), 0, 1<<30)) // from memory
		delete(v.bad, artifacts.Sum(b))
	case c.Method == storetest.BlobsOpen && v.bad[c.Digest]:
		b, rerr := io.ReadAll(c.Body)
		if rerr == nil && len(b) > 0 {
			b = bytes.Clone(b)
			b[len(b)/2] ^= 1
		}
		c.Body = artifacts.VerifyReader(readers.Closing(bytes.NewReader(b), c.Body), c.Digest, "a damaged store")
	}
}

func short(d artifacts.Digest) string { return d.Hex()[:8] }
