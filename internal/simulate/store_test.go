package simulate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/readers"
)

// A shelf is the store of a world. Whoever uses it has a view of it.
type shelf struct {
	d    draw
	tr   *trace
	mem  artifacts.Store // without faults
	left artifacts.Store // without those that pass
	over chan struct{}   // closed at the end, when the calls of the dead return

	mu     sync.Mutex
	faults []fault
	counts map[string]int
	harmed map[artifacts.Digest]bool // blobs that were damaged or lost
	bad    map[artifacts.Digest]bool // of these, those with other bytes now
	stored []stored
	holder sync.Map // of a record, such as a lease: the view that wrote it last
}

// nth counts what has a name, from 1.
func (s *shelf) nth(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what]++
	return s.counts[what]
}

// strikes reports whether a fault of the moment strikes what draws d.
func (s *shelf) strikes(what string, d draw) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.tr.now()
	return slices.ContainsFunc(s.faults, func(f fault) bool {
		return f.What == what && f.At <= at && at < f.At+f.For && d.of(what).chance(f.Rate)
	})
}

// harm damages or loses a blob that a result names, if there is one.
func (s *shelf) harm(d draw, what string) {
	names, _ := artifacts.RecordNames(context.Background(), s.mem.Records, artifacts.ResultsPrefix) // of memory
	if len(names) > 0 {
		if blobs := s.blobsOf(strings.TrimPrefix(names[d.n(len(names))], artifacts.ResultsPrefix)); len(blobs) > 0 {
			s.hurt(blobs[d.of("blob").n(len(blobs))], what)
		}
	}
}

// blobsOf are those of the outputs of a whole result.
func (s *shelf) blobsOf(hex string) (blobs []artifacts.Digest) {
	key, _ := artifacts.ParseHex(hex)
	if r, _ := artifacts.Lookup(context.Background(), artifacts.Alone(s.mem), key); r != nil {
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
		_ = s.mem.Blobs.Delete(context.Background(), b) // of memory
	}
}

// stored is a change of the store, for which work may be done again.
type stored struct {
	at    time.Duration
	what  string // result: there is one now; result gone; gone: a blob was deleted, damaged or taken; back: it was put again; opened, closed: a run
	run   string
	key   artifacts.Digest // of a result
	blobs []artifacts.Digest
}

var writes = []storetest.Method{storetest.BlobsPut, storetest.BlobsDelete,
	storetest.RecordsCreate, storetest.RecordsPut, storetest.RecordsReplace, storetest.RecordsDelete}

// watch does a call and notes what it changed. What is read of a damaged blob is damaged until it is put anew.
func (s *shelf) watch(_ context.Context, c *storetest.Call, next func() error) error {
	if err := next(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Method == storetest.BlobsOpen && s.bad[c.Digest] {
		b, err := io.ReadAll(c.Body)
		if err == nil && len(b) > 0 {
			b[len(b)/2] ^= 1
		}
		c.Body = artifacts.VerifyReader(readers.Closing(bytes.NewReader(b), c.Body), c.Digest, "a damaged store")
	}
	if !slices.Contains(writes, c.Method) {
		return nil
	}
	delete(s.bad, c.Digest)
	now, deleted := stored{at: s.tr.now(), blobs: []artifacts.Digest{c.Digest}}, c.Method == storetest.RecordsDelete
	hex, result := strings.CutPrefix(c.Name, artifacts.ResultsPrefix)
	run, opens := strings.CutPrefix(c.Name, artifacts.OpenRunPrefix)
	switch {
	case c.Method == storetest.BlobsDelete:
		now.what = "gone"
	case c.Method == storetest.BlobsPut && slices.ContainsFunc(s.stored, func(s stored) bool { return s.what == "gone" && s.blobs[0] == c.Digest }):
		now.what = "back"
	case opens:
		now.run, now.what = run, map[bool]string{false: "opened", true: "closed"}[deleted]
	case result && deleted:
		now.what = "result gone"
	case result:
		now.what, now.blobs = "result", s.blobsOf(hex)
	}
	if now.key, _ = artifacts.ParseHex(hex); now.what != "" && len(now.blobs) > 0 {
		s.stored = append(s.stored, now)
	}
	return nil
}

// A view is the store as a process sees it.
type view struct {
	*shelf
	who    string
	life   context.Context
	die    context.CancelFunc // kills it
	frozen atomic.Int64       // until when it stands still, in nanoseconds
}

func (s *shelf) view(who string) (*view, artifacts.Store) {
	v := &view{shelf: s, who: who}
	v.life, v.die = context.WithCancel(context.Background())
	room := func(name string, records artifacts.Records) artifacts.Store {
		return storetest.Hooked(artifacts.Store{Blobs: s.left.Blobs, Records: records, URL: s.mem.URL}, v.hook(name))
	}
	out := room("", s.left.Records)
	out.Leases = room("lease ", s.mem.Leases).Records
	return v, out
}

// next is the draw of a call: of its process, try of an activity, method, name and number of such calls. Several tries may go on at once.
func (v *view) next(ctx context.Context, what string) draw {
	if activity.IsActivity(ctx) {
		i := activity.GetInfo(ctx)
		what = fmt.Sprint(what, " ", i.WorkflowExecution.ID, " ", i.ActivityID, " ", i.Attempt)
	}
	return v.d.of("store", v.who, what, v.nth(v.who+": "+what))
}

var (
	errDead = &artifacts.RefusedError{Err: errors.New("this process is dead")}
	errAway = errors.New("connection refused")
	errSlow = errors.New("503 Slow Down: reduce your request rate")
	errLost = errors.New("connection reset by peer")
)

// pause waits, the dead for the end of the world; but the client of Temporal holds a mutex over local activities, and that would stall.
func (v *view) pause(ctx context.Context, d time.Duration) error {
	select {
	case <-v.life.Done():
	case <-ctx.Done():
	case <-time.After(max(d, time.Duration(v.frozen.Load())-v.tr.now())):
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
			err = v.call(ctx, v.next(ctx, room+what), c, next)
		}
		if err == errDead && room != "" {
			return nil
		} else if err != errDead {
			v.tr.note("%s: %s%s: %v", v.who, room, what, err)
		}
		return err
	}
}

// call is a call of the store as the faults of the moment have it. What it does is done at one moment between its begin and its end.
func (v *view) call(ctx context.Context, d draw, c *storetest.Call, next func() error) error {
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
	if err := v.pause(ctx, wait); err != nil {
		return err
	} else if away || v.strikes("outage", d) {
		return errAway
	} else if v.strikes("throttle", d) {
		return errSlow
	}
	if c.Method == storetest.RecordsList { // it may come late, and no other stale list is allowed to a store
		c.Listed = func() error {
			err, d := context.Cause(ctx), v.next(ctx, "late "+c.Name)
			if err == nil && v.strikes("stale-list", d) {
				err = v.pause(ctx, d.of("for").span(time.Second, 6*time.Second))
			}
			return err
		}
	}
	err := next()
	if !slices.Contains(writes, c.Method) {
		return err
	}
	if err == nil {
		v.holder.Store(c.Name, v)
	}
	if late := v.pause(ctx, d.of("answer").span(time.Millisecond, 10*time.Millisecond)); late != nil {
		return late
	}
	if v.strikes("lost-answer", d) {
		return errLost
	}
	return err
}

// calledOn names a call. The bytes of a blob are read for that.
func calledOn(c *storetest.Call) (string, error) {
	what, err := string(c.Method)+" "+c.Name, error(nil)
	if c.Method == storetest.BlobsPut {
		var b []byte
		b, err = io.ReadAll(c.Read)
		c.Read, c.Digest = bytes.NewReader(b), artifacts.Sum(b)
	} else if c.Method == storetest.BlobsMissing {
		what += fmt.Sprint(len(c.Gone), " ", artifacts.Sum(fmt.Append(nil, c.Gone)).Short())
	}
	if !c.Digest.IsZero() {
		what += short(c.Digest)
	}
	return what, err
}

func short(d artifacts.Digest) string { return d.Hex()[:8] }
func (v *view) killed() bool          { return v.life.Err() != nil }
