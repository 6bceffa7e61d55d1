package doctor

import (
	"fmt"

	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/workflows"
)

// Cluster checks that the queues of a cluster are polled. place is its address and namespace,
// dialed why it was not reached, and worker the command that starts a worker of a queue.
func Cluster(place string, dialed error, polled func(queue string) (bool, error), worker func(queue string) string) []Finding {
	f := Finding{What: "cluster", Note: place}
	if dialed != nil {
		f.Note, f.Do = dialed.Error(), "check --temporal-address, the profile and its TLS; `temporal operator cluster health` asks the cluster itself"
		return []Finding{f}
	}
	found := []Finding{f}
	for _, queue := range []string{workflows.TaskQueue, workflows.GPUTaskQueue} {
		is, err := polled(queue)
		if err != nil {
			found[0].Note, found[0].Do = f.Note+": "+err.Error(), "check --temporal-namespace, and whether the account may use it"
			return found[:1]
		}
		w := Finding{What: "workers", OK: is, Soft: true, Note: fmt.Sprintf("queue %s is polled", queue)}
		if !is {
			w.Note, w.Do = "no worker polls queue "+queue, worker(queue)
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
