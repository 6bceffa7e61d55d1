package simulate

import (
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"time"
)

// A trace has one line for each event of a world, in virtual time. All lines are hashed: two
// plays of a script have the same hash, or the script does not repeat. What happens at one
// instant, such as the end of all that a worker does, has no order. Lines that tell the story
// are kept, the others if all is wanted.
type trace struct {
	all   bool
	began time.Time

	mu    sync.Mutex
	hash  draw          // of all instants before the last one
	last  time.Duration // its time
	sum   uint64        // of the hashes of its events
	lines []string
	n     int
}

func newTrace(all bool) *trace { return &trace{all: all, began: time.Now()} }

func (tr *trace) now() time.Duration { return time.Since(tr.began) }

// tell adds an event of the story.
func (tr *trace) tell(format string, args ...any) { tr.add(true, format, args...) }

// note adds an event of which there are many, such as a call of the store.
func (tr *trace) note(format string, args ...any) { tr.add(false, format, args...) }

func (tr *trace) add(story bool, format string, args ...any) {
	at := tr.now()
	text, _, _ := strings.Cut(fmt.Sprintf(format, args...), "\n") // what follows may be a stack
	h := fnv.New64a()
	fmt.Fprint(h, int64(at), text)
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if at != tr.last {
		tr.hash, tr.last, tr.sum = tr.hash.of(tr.sum), at, 0
	}
	tr.sum += h.Sum64()
	tr.n++
	if story || tr.all {
		tr.lines = append(tr.lines, fmt.Sprintf("%13.6f  %s", at.Seconds(), text))
	}
}

// aside adds what somebody may want to read, and what two plays may say otherwise: it is not hashed.
func (tr *trace) aside(text string) {
	if tr.all {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		tr.lines = append(tr.lines, fmt.Sprintf("%13.6f      %s", tr.now().Seconds(), text))
	}
}

// whole is the hash of all.
func (tr *trace) whole() uint64 {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return uint64(tr.hash.of(tr.sum))
}

func (tr *trace) text() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return strings.Join(tr.lines, "\n") + "\n"
}
