package step

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestUsed: bytes count as they pass, those that are read for their check alone too; what a
// program used takes the place of what was measured of the process.
func TestUsed(t *testing.T) {
	h := newHost()
	x := newTestIO(t, h)
	d, err := artifacts.PutBytes(t.Context(), h.Blobs, []byte("0123456789"))
	errtest.None(t, err)
	in := Input{Artifact: &artifacts.Artifact{Type: "text", Digest: d, Size: 10}}
	for range 2 {
		r, err := x.Open(in)
		errtest.None(t, err)
		errtest.None(t, errtest.Of(io.ReadFull(r, make([]byte, 3))))
		errtest.None(t, r.Close())
	}
	errtest.None(t, errtest.Of(x.PutFile(t.Context(), "f", strings.NewReader("1234"))))
	w, err := x.Create("out")
	write(t, w, err, "567")
	process := &artifacts.Used{CPU: 9, CPUOf: artifacts.CPUOfProcess, Memory: 9, MemoryOf: artifacts.MemoryOfProcess, Beside: 1}
	want := &artifacts.Used{CPU: 9, CPUOf: artifacts.CPUOfProcess, Memory: 9, MemoryOf: artifacts.MemoryOfProcess, Read: 20, Written: 7, Beside: 1}
	if diff := cmp.Diff(want, x.Used(process)); diff != "" {
		t.Error(diff)
	}
	x.Program(time.Second, 0)
	want.CPU, want.CPUOf, want.Memory, want.MemoryOf = 1, artifacts.CPUOfProgram, 0, ""
	if diff := cmp.Diff(want, x.Used(process)); diff != "" {
		t.Error("a program's memory that is not known: ", diff)
	}
	x.Program(500*time.Millisecond, 70)
	x.Program(0, 60)
	want = &artifacts.Used{CPU: 1.5, CPUOf: artifacts.CPUOfProgram, Memory: 70, MemoryOf: artifacts.MemoryOfProgram, Read: 20, Written: 7}
	if diff := cmp.Diff(want, x.Used(nil)); diff != "" {
		t.Error(diff)
	}
}
