package cli

import (
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/system/errtest"
)

// second is another loopback address of this machine: Linux has all of 127.0.0.0/8.
func second(t *testing.T) string {
	t.Helper()
	const address = "127.0.0.2"
	l, err := net.Listen("tcp", address+":0")
	if err != nil {
		t.Skip(err)
	}
	errtest.None(t, l.Close())
	return address
}

// TestListeningHead: `redsi dev --listen` says how to start workers. These need the folder alone, and outlive the server; a run
// outlives whoever started it and the server, for its workers live; and a step that fits nobody here waits for one of them.
func TestListeningHead(t *testing.T) {
	t.Parallel()
	address := second(t)
	dir, open := gated(t, 2)
	state := filepath.Join(dir, ".redsi")
	head := func() *redsiProcess {
		p := startRedsi(t, dir, "dev", "--listen", address, "--port", "0", "--ui-port", "0", "--graph-port", "0", "--slots", "1")
		p.says(t, "redsi worker --state "+state+"\n")
		return p
	}
	dev := head()
	worker := startRedsi(t, t.TempDir(), "worker", "--state", state)
	worker.says(t, "worker started")
	run := startRedsi(t, dir, "run", "--quiet", "--slots", "1")
	run.says(t, "RUN")
	for _, p := range []*redsiProcess{run, dev} {
		errtest.None(t, p.Process.Kill())
		<-p.done
	}
	awaitTrue(t, "the server ends", func() bool { _, ok := devserver.Running(filepath.Join(state, "temporal")); return !ok })
	dev = head()
	open()
	attach := startRedsi(t, t.TempDir(), "attach", "--state", state)
	attach.succeeds(t)
	if said := attach.out.String(); !strings.Contains(said, "has ended: 0 hit, 2 ran") {
		t.Errorf("it said:\n%s", said)
	}
	worker.goesOn(t)
	for _, p := range []*redsiProcess{worker, dev} {
		errtest.None(t, p.Process.Signal(syscall.SIGINT))
		p.succeeds(t)
	}
}

// TestWorkerNowhere: a worker whom nobody told of a server, or of one that is not there, says what would.
func TestWorkerNowhere(t *testing.T) {
	t.Parallel()
	for said, args := range map[string][]string{
		"no Temporal server runs for this state folder":    {"worker", "--state", filepath.Join(t.TempDir(), ".redsi")},
		"--temporal-address or a profile, or with --state": {"worker"},
	} {
		p := startRedsi(t, t.TempDir(), args...)
		<-p.done
		if out := p.out.String(); p.err == nil || !strings.Contains(out, said) {
			t.Errorf("%q: %v\n%s", args, p.err, out)
		}
	}
}
