package session

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/allocation"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/system"
)

// RoomOf is how many bytes are free for a store's results; -1: unknown, as for a bucket.
func RoomOf(store artifacts.Store) int64 {
	u, err := url.Parse(store.URL)
	if err != nil || u.Scheme != "file" {
		return -1
	}
	if free, ok := system.Free(filepath.FromSlash(u.Path)); ok {
		return free
	}
	return -1
}

// HostEnv is recorded with results; it is never part of a key. It does not look for cards: their libraries are loaded only when
// a step computes, and its result says on which card.
func HostEnv() map[string]string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	env := map[string]string{"host": host, "revision": revision.Of(), "go": runtime.Version(),
		"platform": fmt.Sprintf("%s/%s, %d processors", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())}
	if job := allocation.Here().String(); job != "" {
		env["job"] = job // and its node
	}
	return env
}
