package lease

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/process"
)

// Format names the form of a lease.
const Format = "redsi-lease/1"

// Stale is how long a lease counts that is not renewed; renewEvery is well inside it.
const (
	Stale      = time.Minute
	renewEvery = 15 * time.Second
)

// Claim is for whom a key is taken.
type Claim struct {
	Run  string `json:"run"`
	Step string `json:"step"`

	// Attempt names the piece of work whose attempts follow each other: one that finds
	// its own name in a lease follows an attempt that was lost.
	Attempt string `json:"attempt,omitempty"`
}

// Lease is who holds a key.
type Lease struct {
	Format string           `json:"format"`
	Key    artifacts.Digest `json:"key"`
	Taking string           `json:"taking"` // random: of this holder, this time
	Claim
	Process process.Identity `json:"process"`
	Job     string           `json:"job,omitempty"` // and node, of its batch system
	Since   time.Time        `json:"since"`
	Renewed int              `json:"renewed"` // so many times

	generation int
}

// String says who it is, for people, and of a process of this machine whether it is stopped: it keeps its lease.
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

// generationOf reads what name wrote.
func generationOf(key artifacts.Digest, record string) (int, bool) {
	digits, ok := strings.CutPrefix(record, key.Hex()+".")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n > 0
}

func (k *Keeper) write(ctx context.Context, l Lease, put func(context.Context, string, []byte) error) error {
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return put(ctx, name(l.Key, l.generation), b)
}

// Of reads who holds a key, or held it and was lost; nil if nobody does. Nothing is taken.
func Of(ctx context.Context, records artifacts.Records, key artifacts.Digest) (*Lease, error) {
	return (&Keeper{records: records}).newest(ctx, key)
}

// newest reads the lease of the highest generation; nil if there is none.
func (k *Keeper) newest(ctx context.Context, key artifacts.Digest) (*Lease, error) {
	top := 0
	for r, err := range k.records.List(ctx, key.Hex()+".") {
		if err != nil {
			return nil, err
		}
		if n, ok := generationOf(key, r.Name); ok {
			top = max(top, n)
		}
	}
	if top == 0 {
		return nil, nil
	}
	b, err := k.records.Get(ctx, name(key, top))
	if errors.Is(err, artifacts.ErrNotExist) {
		return nil, nil // released meanwhile
	}
	if err != nil {
		return nil, err
	}
	l := Lease{}
	if json.Unmarshal(b, &l) != nil || l.Format != Format || l.Key != key {
		// Not ours, or cut off by a loss of power: it counts as long as one that is
		// not renewed.
		l = Lease{Key: key, Taking: artifacts.Sum(b).Hex(), Claim: Claim{Run: "unknown", Step: "a lease that cannot be read"}}
	}
	l.generation = top
	return &l, nil
}

// fresh is a new lease of this process.
func (k *Keeper) fresh(key artifacts.Digest, c Claim) Lease {
	return Lease{Format: Format, Key: key, Taking: k.name + rand.Text(), Claim: c, Process: k.self, Job: k.job, Since: k.now().UTC()}
}
