package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/redsi/redsi/artifacts"
)

// What is kept of what a step says: its beginning, and the end.
const (
	LogHead = 64 << 10
	LogTail = 1 << 20
)

// CutLine stands in a log between its beginning and its end for n bytes that were not kept.
func CutLine(n int64) []byte { return fmt.Appendf(nil, "\n[%d bytes are left out here]\n", n) }

// LiveLog is what a running step has said so far, for those who follow it. It is a record beside
// the step's lease, so that it is found wherever the store is, and goes with old leases.
type LiveLog struct {
	Said int64  `json:"said"` // bytes in all
	Text []byte `json:"text"` // the last of them
}

// LiveName names the record of a key.
func LiveName(key artifacts.Digest) string { return key.Hex() + ".log" }

// ReadLive reads what a running step has said; nil if nothing is there.
func ReadLive(ctx context.Context, leases artifacts.Records, key artifacts.Digest) (*LiveLog, error) {
	b, err := leases.Get(ctx, LiveName(key))
	if errors.Is(err, artifacts.ErrNotExist) {
		return nil, nil
	}
	var l LiveLog
	if err == nil && json.Unmarshal(b, &l) != nil { // cut off by a loss of power
		return nil, nil
	}
	return &l, err
}
