package compute

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/redsi/redsi/step"
)

// protocol is the version of the frames. A process with another version is refused like one of another build.
const protocol = 1

// message is a frame. One field is set besides ID, which says which call it is about.
type message struct {
	ID int64 `json:"id,omitempty"`

	// To the process.
	Setup   *Setup `json:"setup,omitempty"`
	Call    *call  `json:"call,omitempty"`
	Cancel  bool   `json:"cancel,omitempty"`
	Threads int    `json:"threads,omitempty"`

	// From it.
	Hello    *hello         `json:"hello,omitempty"`
	Alive    bool           `json:"alive,omitempty"`
	Progress *step.Progress `json:"progress,omitempty"`
	Log      *line          `json:"log,omitempty"`
	Said     []byte         `json:"said,omitempty"` // by what a step runs, on its standard error
	Reply    *reply         `json:"reply,omitempty"`
}

// hello is the first message of a process.
type hello struct {
	Protocol int               `json:"protocol"`
	Build    string            `json:"build"`
	Kinds    map[string]string `json:"kinds"` // that it computes, by name: their version and configuration
	Exact    bool              `json:"exact"` // results are the same bits for any number of threads
}

// Setup is what a process must know before it is asked to run a step.
type Setup struct {
	Store    string `json:"store"` // its address
	CacheDir string `json:"cache_dir"`
	Card     string `json:"card,omitempty"` // "cuda:0", or "cpu": what it computes on; "": what steps ask for
	Threads  int    `json:"threads,omitempty"`
}

type call struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

// reply is the outcome of a call: a failed call may have a value, too.
type reply struct {
	Value json.RawMessage `json:"value,omitempty"`
	Error *wireError      `json:"error,omitempty"`
}

// line is what a step logs.
type line struct {
	Level slog.Level  `json:"level"`
	Text  string      `json:"text"`
	Attrs [][2]string `json:"attrs,omitempty"`
}

// A frame is magic, the length of its JSON and the CRC-32 of it, four bytes each, and the JSON: what a library prints
// into the pipe is never taken for a frame.
const (
	magic    = "rdsi"
	header   = 12
	maxFrame = 256 << 20
)

var (
	errGarbage = errors.New("what came through the pipe is not a message from redsi")
	errLong    = errors.New("which is longer than any that is sent")
)

// writer sends frames, from several goroutines.
type writer struct {
	mu sync.Mutex
	w  io.Writer
}

func (w *writer) send(m message) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(body) > maxFrame {
		return fmt.Errorf("a message of %d bytes, %w", len(body), errLong)
	}
	frame := make([]byte, header, header+len(body))
	copy(frame, magic)
	binary.BigEndian.PutUint32(frame[4:], uint32(len(body)))
	binary.BigEndian.PutUint32(frame[8:], crc32.ChecksumIEEE(body))
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err = w.w.Write(append(frame, body...))
	return err
}

// receive reads a frame; io.EOF says that the pipe ended between frames.
func receive(r io.Reader) (m message, err error) {
	var head [header]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return m, err
	}
	n := binary.BigEndian.Uint32(head[4:])
	if string(head[:4]) != magic || n > maxFrame {
		return m, fmt.Errorf("%w: it begins with %q", errGarbage, head)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return m, err
	}
	if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(head[8:]) {
		return m, fmt.Errorf("%w: its checksum differs", errGarbage)
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return m, fmt.Errorf("%w: %w", errGarbage, err)
	}
	return m, nil
}

// The calls that every process answers. Serving may have further ones.
const (
	runCall   = "run"
	factsCall = "facts"
)

// aliveEvery is how often a process says that it is alive, and silentFor how long it may be silent: as long as the
// server waits for a heartbeat. Variables for tests.
var (
	aliveEvery = time.Second
	silentFor  = 15 * time.Second
)
