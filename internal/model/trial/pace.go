package trial

import (
	"os"
	"time"

	"github.com/redsi/redsi/internal/host/rates"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/model/tensor"
)

// point is how many seconds so much work takes.
type point struct {
	n    int
	took float64
}

// pace times more and more work, as long as that is about to take no longer than the trial has, and the
// last of it for that long. Before, it is done untimed: three times on a card, which then records what it
// will replay. wait, if there is one, ends when the card has done what it was asked.
func (t *trial) pace(sizes []int, do func(n int) error, wait func() error) (found []point, err error) {
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // resets the most memory to the present, where the system can
	timed := func(n, times int) (float64, error) {
		began := time.Now()
		for range times {
			if err := do(n); err != nil {
				return 0, err
			}
		}
		if wait != nil {
			err = wait()
		}
		return time.Since(began).Seconds() / float64(times), err
	}
	warm := 1
	if t.Card {
		warm = 3
	}
	for i, n := range sizes {
		if i > 0 && found[i-1].took*float64(n)/float64(found[i-1].n) > t.Seconds {
			break
		}
		if i == 0 || t.Card {
			if _, err := timed(n, warm); err != nil {
				return nil, err
			}
		}
		took, err := timed(n, 1)
		if err != nil {
			return nil, err
		}
		found = append(found, point{n, took})
	}
	if last := &found[len(found)-1]; last.took < t.Seconds {
		last.took, err = timed(last.n, max(1, int(t.Seconds/last.took)))
	}
	return found, err
}

// timeFor is how long n examples take: as the last two points go on, or only the last one.
func timeFor(found []point, n int) float64 {
	b := found[len(found)-1]
	each := b.took / float64(b.n)
	if len(found) > 1 {
		a := found[len(found)-2]
		each = max(each/2, min(each, (b.took-a.took)/float64(b.n-a.n)))
	}
	return b.took + each*float64(n-b.n)
}

// add keeps a rate, with the most memory since pace began; on a card, since it was first used.
func (t *trial) add(r rates.Rate) {
	r.Shape, r.Documents, r.Memory = t.Shape.Name, t.rows, usage.Own()
	if t.Card {
		_, r.Memory, _ = tensor.CardMemory(0)
	}
	t.found = append(t.found, r)
}
