package drive

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/stores/open"
	"github.com/redsi/redsi/workflows"
)

// Queue is the task queue of runs with a store, and of their workers. A cluster has one store. On the server of a state
// folder every store has a queue, since a worker of another has neither plans nor results: the folder's own store has
// workflows.TaskQueue, and another one a name by its place.
func (c *Connection) Queue(store artifacts.Store) string {
	place := open.Place(store.URL)
	if c.state == "" || place == open.Place(filepath.Join(c.state, "store")) {
		return workflows.TaskQueue
	}
	sum := sha256.Sum256([]byte(place))
	return workflows.TaskQueue + "-" + hex.EncodeToString(sum[:4])
}

// stateFolder is the state folder whose server a named profile, with that server's file, is of; "": a cluster's.
func (o *Cluster) stateFolder() string {
	dir, file := filepath.Split(os.Getenv("TEMPORAL_CONFIG_FILE"))
	if dir = filepath.Clean(dir); o.Profile != devserver.ProfileName || file != devserver.ProfileFile || filepath.Base(dir) != "temporal" {
		return ""
	}
	return filepath.Dir(dir)
}
