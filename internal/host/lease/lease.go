package lease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/process"
)

// Format is the format of a lease.
const Format = "redsi-lease/1"

// Stale is how long a lease counts without renewal; renewEvery is well below it.
const (
	Stale      = time.Minute
	renewEvery = 15 * time.Second
)

// Claim says for whom a key is taken.
type Claim struct {
	Run  string `json:"run"`
	Step string `json:"step"`

	// Attempt names work whose attempts follow each other: one that finds it in a lease knows that the last was lost.
	Attempt string `json:"attempt,omitempty"`
}

// Lease is who holds a key.
type Lease struct {
	Format string           `json:"format"`
	Key    artifacts.Digest `json:"key"`
	Taking string           `json:"taking"` // random, for this holder and time
	Claim
	Process process.Identity `json:"process"`
	Job     string           `json:"job,omitempty"` // job and node, of its batch system
	Since   time.Time        `json:"since"`
	Renewed int              `json:"renewed"` // number of renewals

	generation int
}

// String says for people who holds the lease and, on this machine, whether the process is stopped, since it keeps its
// lease.
func (l Lease) String() string {
	job, stopped := "", ""
	if l.Job != "" {
		job = ", " + l.Job
	}
	if l.Process.Stopped() {
		stopped = fmt.Sprintf("; it is stopped: `kill -CONT %d` has it go on, `kill -KILL %d` gives its step to others", l.Process.PID, l.Process.PID)
	}
	return fmt.Sprintf("%s of run %s (process %d on %s%s, since %s%s)", l.Step, l.Run, l.Process.PID, l.Process.Machine, job,
		l.Since.Local().Format(time.DateTime), stopped)
}

func name(key artifacts.Digest, generation int) string {
	return key.Hex() + "." + strconv.Itoa(generation)
}

func (k *Keeper) write(ctx context.Context, l Lease, put func(context.Context, string, []byte) error) error {
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return put(ctx, name(l.Key, l.generation), b)
}

// Of returns the lease of a key, of the highest generation; it may be stale. It is nil if there is none.
func Of(ctx context.Context, records artifacts.Records, key artifacts.Digest) (*Lease, error) {
	top := 0
	for r, err := range records.List(ctx, key.Hex()+".") {
		if err != nil {
			return nil, err
		}
		if n, err := strconv.Atoi(strings.TrimPrefix(r.Name, key.Hex()+".")); err == nil { // else it is no lease
			top = max(top, n)
		}
	}
	if top == 0 {
		return nil, nil
	}
	b, err := records.Get(ctx, name(key, top))
	if errors.Is(err, artifacts.ErrNotExist) {
		return nil, nil // released meanwhile
	}
	if err != nil {
		return nil, err
	}
	l := Lease{}
	if json.Unmarshal(b, &l) != nil || l.Format != Format || l.Key != key {
		// Not a lease, or cut off by a power cut: it counts as long as a lease that is not renewed.
		l = Lease{Key: key, Taking: artifacts.Sum(b).Hex(), Claim: Claim{Run: "unknown", Step: "a lease that cannot be read"}}
	}
	l.generation = top
	return &l, nil
}
