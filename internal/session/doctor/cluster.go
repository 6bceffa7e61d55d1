package doctor

import (
	"context"
	"fmt"

	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/workflows"
)

// Cluster is how a Temporal cluster is reached.
type Cluster struct {
	Address string // as it was given
	Dial    func(ctx context.Context) (Connection, error)
	Worker  func(queue string) string // the command that starts a worker of a queue
}

// Connection is an open connection to a cluster.
type Connection interface {
	Place() string // its address and namespace, in words
	Polled(ctx context.Context, queue string) (bool, error)
	Close()
}

// Check dials the cluster and checks that its queues are polled.
func (c Cluster) Check(ctx context.Context) []Finding {
	f := Finding{What: "cluster", Note: c.Address}
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	conn, err := c.Dial(ctx)
	if err != nil {
		f.Note, f.Do = err.Error(), "check --temporal-address, the profile and its TLS; `temporal operator cluster health` asks the cluster itself"
		return []Finding{f}
	}
	defer conn.Close()
	f.Note = conn.Place()
	found := []Finding{f}
	for _, queue := range []string{workflows.TaskQueue, workflows.GPUTaskQueue} {
		is, err := conn.Polled(ctx, queue)
		if err != nil {
			found[0].Note, found[0].Do = f.Note+": "+err.Error(), "check --temporal-namespace, and whether the account may use it"
			return found[:1]
		}
		w := Finding{What: "workers", OK: is, Soft: true, Note: fmt.Sprintf("queue %s is polled", queue)}
		if !is {
			w.Note, w.Do = "no worker polls queue "+queue, c.Worker(queue)
		}
		found = append(found, w)
	}
	found[0].OK = true
	return found
}

// PayloadKey checks the file that a run would encrypt with: the ids of its keys, or why it
// cannot be read. Only ids are shown.
func PayloadKey(file string, ids []string, err error) Finding {
	f := Finding{What: "payload key", Note: file}
	if err != nil {
		f.Note, f.Do = err.Error(), "give the file that the other processes of the run use, readable only by you; `(umask 077; openssl rand -hex 32 > FILE)` makes a new one"
		return f
	}
	f.OK, f.Note = true, fmt.Sprintf("%s: %s, %s encrypts", file, words.Count(len(ids), "key"), ids[0])
	return f
}
