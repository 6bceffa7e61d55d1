package simulate

import (
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"time"
)

// A trace has a line for each event, in virtual time: those of the story, or all. All are hashed: two plays of a script have the same
// hash, or it does not repeat. What happens at one instant, such as the end of all that a worker does, has no order.
type trace struct {
	all   bool
	began time.Time

	mu    sync.Mutex
	hash  draw          // of all instants before the last one
	last  time.Duration // its time
	sum   uint64        // of the hashes of its events
	lines []string
}

func (tr *trace) now() time.Duration { return time.Since(tr.began) }

// tell adds an event of the story, and note one of which there are many, such as a call of the store.
func (tr *trace) tell(format string, args ...any) { tr.add(true, fmt.Sprintf(format, args...)) }
func (tr *trace) note(format string, args ...any) { tr.add(false, fmt.Sprintf(format, args...)) }

func (tr *trace) add(story bool, text string) {
	at := tr.now()
	text, _, _ = strings.Cut(text, "\n") // what follows may be a stack
	h := fnv.New64a()
	fmt.Fprint(h, int64(at), text)
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if at != tr.last {
		tr.hash, tr.last, tr.sum = tr.hash.of(tr.sum), at, 0
	}
	if tr.sum += h.Sum64(); story || tr.all {
		tr.lines = append(tr.lines, fmt.Sprintf("%13.6f  %s", at.Seconds(), text))
	}
}

// hashOfAll is the hash of all.
func (tr *trace) hashOfAll() draw { return tr.hash.of(tr.sum) }
