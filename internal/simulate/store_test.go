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

	"go.temporal.io/sdk/activity"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/readers"
)

// A shelf is the store of a world. Whoever uses it has a view of it.
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
	holder map[string]*view // of leases: who wrote them last
}

func newShelf(d draw, tr *trace, faults []fault) *shelf {
	return &shelf{d: d, tr: tr, base: mem.New(), faults: faults, over: make(chan struct{}),
		harmed: map[artifacts.Digest]bool{}, bad: map[artifacts.Digest]bool{}, holder: map[string]*view{}}
}

// strikes reports whether a fault of the moment strikes what draws d.
func (s *shelf) strikes(what string, d draw) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.tr.now()
	return !s.healed && slices.ContainsFunc(s.faults, func(f fault) bool {
		return f.What == what && f.At <= at && at < f.At+f.For && d.of(what).chance(f.Rate)
	})
}

// harm damages or loses a blob that a result names, if there is one.
func (s *shelf) harm(d draw, what string) {
	ctx := context.Background()
	names, _ := artifacts.RecordNames(ctx, s.base.Records, artifacts.ResultsPrefix) // of memory
	if len(names) == 0 {
		return
	}
	key, _ := artifacts.ParseHex(strings.TrimPrefix(names[d.n(len(names))], artifacts.ResultsPrefix))
	if blobs := s.blobsOf(key); len(blobs) > 0 {
		s.hurt(blobs[d.of("blob").n(len(blobs))], what)
	}
}

// blobsOf are those of the outputs of a whole result.
func (s *shelf) blobsOf(key artifacts.Digest) (blobs []artifacts.Digest) {
	if r, err := artifacts.Lookup(context.Background(), s.base, key); err == nil && r != nil {
		for _, a := range r.Outputs { // one, of all kinds that there are
			blobs = append(blobs, a.Blobs()...)
		}
	}
	return blobs
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
		_ = s.base.Blobs.Delete(context.Background(), b) // of memory
	}
}

// A view is the store as a process sees it.
type view struct {
	*shelf
	who  string
	life context.Context
	die  context.CancelFunc // kills it

	mu     sync.Mutex
	calls  map[string]int
	frozen time.Time // until when it stands still
}

func (s *shelf) view(who string) (*view, artifacts.Store) {
	v := &view{shelf: s, who: who, calls: map[string]int{}}
	v.life, v.die = context.WithCancel(context.Background())
	out := storetest.Hooked(artifacts.Store{Blobs: s.base.Blobs, Records: lateLists{s.base.Records, v}, URL: s.base.URL}, v.hook(""))
	out.Leases = storetest.Hooked(artifacts.Store{Records: lateLists{s.base.Leases, v}}, v.hook("lease ")).Records
	return v, out
}

// left is the store without faults, but with what is damaged.
func (s *shelf) left() artifacts.Store {
	return storetest.Hooked(s.base, func(_ context.Context, c *storetest.Call, next func() error) error { return s.done(c, next) })
}

// lateLists are records whose list is as it was when it was asked for, and may come late: no other
// stale list is allowed to a store.
type lateLists struct {
	artifacts.Records
	v *view
}

func (l lateLists) List(ctx context.Context, prefix string) iter.Seq2[artifacts.RecordInfo, error] {
	return func(yield func(artifacts.RecordInfo, error) bool) {
		var all []artifacts.RecordInfo
		for r := range l.Records.List(ctx, prefix) { // of memory
			all = append(all, r)
		}
		err := context.Cause(ctx)
		if d := l.v.next(ctx, "late "+prefix); err == nil && l.v.strikes("stale-list", d) {
			err = l.v.pause(ctx, d.of("for").span(time.Second, 6*time.Second))
		}
		if err != nil {
			yield(artifacts.RecordInfo{}, err)
			return
		}
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// next is the draw of a call: the same for the same process, try of an activity, method, name and
// number of such calls. Several tries may wait for one thing, and go on at one instant.
func (v *view) next(ctx context.Context, what string) draw {
	if activity.IsActivity(ctx) {
		i := activity.GetInfo(ctx)
		what = fmt.Sprint(what, " ", i.WorkflowExecution.ID, " ", i.ActivityID, " ", i.Attempt)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.calls[what]++
	return v.d.of("store", v.who, what, v.calls[what])
}

var (
	errDead = &artifacts.RefusedError{Err: errors.New("this process is dead")}
	errAway = errors.New("connection refused")
	errSlow = errors.New("503 Slow Down: reduce your request rate")
	errLost = errors.New("connection reset by peer")
)

func (v *view) killed() bool { return v.life.Err() != nil }

// pause waits. Whoever is dead by then waits for the end of the world; but the client of Temporal
// holds a mutex over local activities, and no mutex is waited for in virtual time.
func (v *view) pause(ctx context.Context, d time.Duration) error {
	v.mu.Lock()
	thaw := time.Until(v.frozen)
	v.mu.Unlock()
	select {
	case <-v.life.Done():
	case <-ctx.Done():
	case <-time.After(max(d, thaw)):
	}
	if !v.killed() {
		return context.Cause(ctx)
	}
	if !activity.IsActivity(ctx) || !activity.GetInfo(ctx).IsLocalActivity {
		<-v.over
	}
	return errDead
}

// hook is how the calls of a room go. At the end, the dead believe that they have tidied up.
func (v *view) hook(room string) storetest.Hook {
	return func(ctx context.Context, c *storetest.Call, next func() error) error {
		what, err := calledOn(c)
		if err == nil {
			err = v.call(ctx, v.next(ctx, room+what), room != "", c, next)
		}
		switch {
		case err != errDead:
			v.tr.note("%s: %s%s: %v", v.who, room, what, err)
		case room != "":
			return nil
		}
		return err
	}
}

// call is a call of the store as the faults of the moment have it. What it does is done at one
// moment between its begin and its end.
func (v *view) call(ctx context.Context, d draw, lease bool, c *storetest.Call, next func() error) error {
	wait := d.span(time.Millisecond, 30*time.Millisecond)
	if d.of("rare").chance(0.02) {
		wait *= 10
	}
	if v.strikes("slow", d) {
		wait += d.of("slow for").span(time.Second, 8*time.Second)
	}
	away := v.strikes("outage", d)
	if away && d.of("hangs").chance(0.3) { // a packet that nobody answers
		wait += d.of("hangs for").span(time.Second, 20*time.Second)
	}
	err := v.pause(ctx, wait)
	switch {
	case err != nil:
		return err
	case away || v.strikes("outage", d):
		return errAway
	case v.strikes("throttle", d):
		return errSlow
	}
	err = v.done(c, next)
	if !slices.Contains(writes, c.Method) {
		return err
	}
	if err == nil {
		v.noted(c, lease)
	}
	if late := v.pause(ctx, d.of("answer").span(time.Millisecond, 10*time.Millisecond)); late != nil {
		return late
	}
	if v.strikes("lost-answer", d) {
		return errLost
	}
	return err
}

var writes = []storetest.Method{storetest.BlobsPut, storetest.BlobsDelete, storetest.RecordsCreate, storetest.RecordsPut, storetest.RecordsReplace, storetest.RecordsDelete}

// calledOn names a call. The bytes of a blob are read for that.
func calledOn(c *storetest.Call) (string, error) {
	what := string(c.Method) + " " + c.Name
	switch c.Method {
	case storetest.BlobsPut:
		b, err := io.ReadAll(c.Read)
		c.Read, c.Digest = bytes.NewReader(b), artifacts.Sum(b)
		return what + short(c.Digest), err
	case storetest.BlobsOpen, storetest.BlobsDelete:
		what += short(c.Digest)
	case storetest.BlobsMissing:
		what += fmt.Sprint(len(c.Gone), " ", artifacts.Sum(fmt.Append(nil, c.Gone)).Short())
	}
	return what, nil
}

// noted remembers what a write has changed.
func (v *view) noted(c *storetest.Call, lease bool) {
	now := stored{at: v.tr.now(), what: "result"}
	hex, result := strings.CutPrefix(c.Name, artifacts.ResultsPrefix)
	run, opens := strings.CutPrefix(c.Name, artifacts.OpenRunPrefix)
	if result && !lease {
		now.key, _ = artifacts.ParseHex(hex)
	}
	switch {
	case c.Method == storetest.BlobsDelete:
		now.what, now.blobs = "gone", []artifacts.Digest{c.Digest}
	case c.Method == storetest.BlobsPut:
		now.what, now.blobs = "back", []artifacts.Digest{c.Digest}
	case opens && c.Method == storetest.RecordsDelete:
		now.what, now.run = "closed", run
	case opens:
		now.what, now.run = "opened", run
	case c.Method == storetest.RecordsDelete:
		now.what = "result gone"
	case !now.key.IsZero():
		now.blobs = v.blobsOf(now.key)
	}
	v.shelf.mu.Lock()
	defer v.shelf.mu.Unlock()
	if lease {
		v.holder[c.Name] = v
	} else if now.what == "back" && !slices.ContainsFunc(v.stored, func(s stored) bool { return s.what == "gone" && s.blobs[0] == c.Digest }) { // it is new
	} else if len(now.blobs) > 0 || now.what == "result gone" && result || opens && !lease {
		v.stored = append(v.stored, now)
	}
}

// done does a call: what is read of a damaged blob is damaged, until it is put anew.
func (s *shelf) done(c *storetest.Call, next func() error) error {
	err := next()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil || !s.bad[c.Digest]:
	case c.Method != storetest.BlobsOpen:
		delete(s.bad, c.Digest)
	default:
		b, rerr := io.ReadAll(c.Body)
		if rerr == nil && len(b) > 0 {
			b[len(b)/2] ^= 1
		}
		c.Body = artifacts.VerifyReader(readers.Closing(bytes.NewReader(b), c.Body), c.Digest, "a damaged store")
	}
	return err
}

func short(d artifacts.Digest) string { return d.Hex()[:8] }
