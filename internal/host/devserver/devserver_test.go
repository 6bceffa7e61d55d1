package devserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

// A test program with this variable set is a client of the folder it names.
const memberOf = "REDSI_TEST_MEMBER"

func TestMain(m *testing.M) {
	for variable, run := range map[string]func(string) error{memberOf: member, strangerOf: stranger} {
		if told := os.Getenv(variable); told != "" {
			if err := run(told); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// member joins, calls the server, says so, and leaves when its input ends.
func member(dir string) error {
	program, err := Find()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	s, err := Join(ctx, Options{Program: program, Dir: dir, Idle: idle})
	if err != nil {
		return err
	}
	defer s.Close()
	c, err := dialed(s.ClientOptions())
	if err != nil {
		return err
	}
	defer c.Close()
	if err := called(ctx, c); err != nil {
		return err
	}
	fmt.Println("joined")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// idle is how long servers of these tests stay without a client.
const idle = 300 * time.Millisecond

// patient bounds what a busy machine may take.
const patient = 3 * time.Minute

func patiently(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	t.Cleanup(cancel)
	return ctx
}

func joined(t *testing.T, o Options) *Server {
	t.Helper()
	if o.Program == "" {
		o.Program = found(t)
	}
	o.Idle = idle
	s, err := Join(patiently(t), o)
	testkit.None(t, err)
	t.Cleanup(func() { s.Close(); ended(t, o.Dir) })
	return s
}

func found(t *testing.T) string {
	t.Helper()
	program, err := Find()
	testkit.None(t, err)
	return program
}

func dialed(o client.Options, err error) (client.Client, error) {
	if err != nil {
		return nil, err
	}
	o.Logger = quiet
	return client.NewLazyClient(o)
}

var quiet = log.NewStructuredLogger(slog.New(slog.DiscardHandler))

// caller makes a client, which the end of the test closes.
func caller(t *testing.T) func(client.Options, error) client.Client {
	return func(o client.Options, err error) client.Client {
		t.Helper()
		c, err := dialed(o, err)
		testkit.None(t, err)
		t.Cleanup(c.Close)
		return c
	}
}

// called calls the server until it answers.
func called(ctx context.Context, c client.Client) error {
	for {
		one, cancel := context.WithTimeout(ctx, 10*time.Second)
		_, err := c.WorkflowService().ListWorkflowExecutions(one, &workflowservice.ListWorkflowExecutionsRequest{Namespace: "default", PageSize: 1})
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
		time.Sleep(lookEvery) // a call without a server fails at once: the one that starts needs the processor
	}
}

// ended waits until no server is there.
func ended(t *testing.T, dir string) {
	t.Helper()
	for end := time.Now().Add(patient); time.Now().Before(end); time.Sleep(lookEvery) {
		if _, _, held, err := look(dir, 0); err != nil || !held {
			return
		}
	}
	t.Errorf("a server is left behind in %s: %s", dir, Condition(dir))
}

// TestKilledServer: whoever uses a server that is killed gets another one, at the
// same place, by the same client; and the last one who leaves leaves none behind.
func TestKilledServer(t *testing.T) {
	var mu sync.Mutex
	var said []string
	s := joined(t, Options{Dir: t.TempDir(), Say: func(text string) { mu.Lock(); said = append(said, text); mu.Unlock() }})
	c, ctx := caller(t)(s.ClientOptions()), patiently(t)
	for range 3 {
		before, ok := Running(s.o.Dir)
		if !ok {
			t.Fatal("no server answers")
		}
		testkit.None(t, syscall.Kill(before.PID, syscall.SIGKILL))
		testkit.None(t, called(ctx, c), "after the server was killed")
		if now, _ := Running(s.o.Dir); now.PID == before.PID || now.Address != before.Address || now.UI != before.UI {
			t.Errorf("%+v came after %+v", now, before)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if all := strings.Join(said, "\n"); strings.Count(all, "was started in its place") != 3 {
		t.Errorf("said %q", said)
	}
}

// TestFirstStartKilled: whenever the first start is killed, the next one works.
func TestFirstStartKilled(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 1))
	for range 6 {
		dir := t.TempDir()
		cmd := exec.Command(found(t), "--dir", dir)
		testkit.None(t, cmd.Start())
		// The moments matter, not what they are: by the file that appears last, and a little later.
		after := []string{ownerLock, "tls.new", "tls", "temporal.db.new-*", "temporal.db", "temporal.db-wal"}[r.IntN(6)]
		for end := time.Now().Add(patient); time.Now().Before(end); {
			if there, _ := filepath.Glob(filepath.Join(dir, after)); len(there) > 0 {
				break
			}
			if _, err := os.Stat(filepath.Join(dir, "temporal.db-wal")); err == nil {
				break // what was waited for is gone again
			}
		}
		time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		joined(t, Options{Dir: dir}).Close()
	}
}

// TestDatabaseSetAside: a database that cannot be used is kept, said, and replaced. That of Temporal 1.29.1 was made by
// temporal-server --create of that version; the damaged one opens.
func TestDatabaseSetAside(t *testing.T) {
	const name = "temporal.db"
	dir := t.TempDir()
	joined(t, Options{Dir: dir}).Close()
	ended(t, dir)
	damaged := []byte(testkit.Text(t, filepath.Join(dir, name)))
	for i := 19 * 4096; i < 20*4096; i++ { // a table of task queues: the server would start, and never answer
		damaged[i] ^= 0x55
	}
	older := goldens.Text(t, filepath.Join("testdata", "temporal-1.29.1.db.gz"))
	for about, content := range map[string]string{"not a database": strings.Repeat("no database", 1000), "empty": "",
		"of Temporal 1.29.1": string(older), "it is damaged": string(damaged)} {
		t.Run(about, func(t *testing.T) {
			dir, said := t.TempDir(), ""
			path := filepath.Join(dir, name)
			testkit.None(t, os.WriteFile(path, []byte(content), 0o600))
			joined(t, Options{Dir: dir, Say: func(text string) { said += text }})
			kept, err := filepath.Glob(path + ".unusable-*")
			if err != nil || len(kept) != 1 || !strings.Contains(said, kept[0]) || about == "it is damaged" && !strings.Contains(said, about) {
				t.Fatalf("kept %q, said %q", kept, said)
			}
			testkit.Is(t, testkit.Text(t, kept[0]), content)
		})
	}
}

// TestPortTaken: whoever answers on a taken port must not be taken for the server
// that was to be started there; the port of another address is free.
func TestPortTaken(t *testing.T) {
	taken := func(address string) int {
		l, err := net.Listen("tcp", address+":0")
		testkit.None(t, err)
		t.Cleanup(func() { l.Close() })
		return l.Addr().(*net.TCPAddr).Port
	}
	port, other := taken(loopback), taken(second(t))
	for name, o := range map[string]Options{"server": {Port: port}, "UI": {UIPort: port}, "another address": {Listen: second(t), Port: other}} {
		o.Program, o.Dir = "/nothing/is/started", t.TempDir()
		testkit.ErrIs(t, testkit.Err(Join(t.Context(), o)), ErrPort, name)
	}
	testkit.None(t, claimable(loopback, other))
}

// TestLongPath: a folder whose database could not be opened is refused before anything
// is made there, and the longest that is not works.
func TestLongPath(t *testing.T) {
	dir := t.TempDir()
	long := dir + strings.Repeat("/"+strings.Repeat("d", 99), 5)
	testkit.ErrIs(t, testkit.Err(Join(t.Context(), Options{Program: "/nothing/is/started", Dir: long})), ErrDir)
	if there, err := os.ReadDir(dir); err != nil || len(there) > 0 {
		t.Errorf("%v, %v were made", there, err)
	}
	joined(t, Options{Dir: long[:maxDir-1] + "e"}).Close()
}

// TestOtherPorts: a server that others use stays where it is; asking for another
// place is an error, wishing for one is not.
func TestOtherPorts(t *testing.T) {
	s := joined(t, Options{Dir: t.TempDir()})
	o := s.o
	o.Port = portOf(s.Address) + 1
	second, err := Join(t.Context(), o)
	if err != nil || second.Address != s.Address {
		t.Fatalf("at %v, %v", second, err)
	}
	second.Close()
	o.Strict = true
	testkit.ErrIs(t, testkit.Err(Join(t.Context(), o)), ErrOther)
}

// clientProcess is a client process of TestJoinsAndLeaves.
type clientProcess struct {
	cmd    *exec.Cmd
	in     io.Closer
	joined chan bool
}

// TestVisit: a server that somebody looks at stays, though all who used it have left.
func TestVisit(t *testing.T) {
	ctx, dir := patiently(t), t.TempDir()
	if s, err := Visit(ctx, dir); s != nil || err != nil {
		t.Fatalf("a server of an empty folder, or %v", err)
	}
	s := joined(t, Options{Dir: dir})
	visit, err := Visit(ctx, dir)
	if visit == nil || visit.PID != s.PID {
		t.Fatalf("visited %+v (%v), it is %+v", visit, err, s.Info)
	}
	s.Close()
	clients := lockOf(dir, clientsLock)
	defer clients.Close()
	if ok, err := take(clients, exclusiveLock); ok || err != nil {
		t.Fatalf("the server may end while it is looked at (%v)", err)
	}
	visit.Close()
	ended(t, dir)
	if s, err := Visit(ctx, dir); s != nil || err != nil {
		t.Errorf("a server after the last has left, or %v", err)
	}
}

// TestJoinsAndLeaves: a hundred random joins, leaves, kills and stops of clients
// and of the server of one folder. Whoever joins gets through, and nothing is left.
func TestJoinsAndLeaves(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 9))
	dir := t.TempDir()
	var members []*clientProcess
	start := func() {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), memberOf+"="+dir)
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		testkit.None(t, err)
		out, err := cmd.StdoutPipe()
		testkit.None(t, err)
		testkit.None(t, cmd.Start())
		m := &clientProcess{cmd, in, make(chan bool, 1)}
		go func() { m.joined <- bufio.NewScanner(out).Scan() }()
		members = append(members, m)
	}
	settle := func(m *clientProcess) {
		t.Helper()
		select {
		case ok := <-m.joined:
			if !ok {
				t.Error("a client did not get through")
			}
		case <-time.After(patient):
			t.Fatalf("a client waits: %s", Condition(dir))
		}
	}
	leave := func(m *clientProcess) {
		t.Helper()
		settle(m)
		m.in.Close()
		testkit.None(t, m.cmd.Wait(), "a client that leaves")
	}
	var stopped []int // servers
	resume := func() {
		for _, pid := range stopped {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
		stopped = nil
	}
	t.Cleanup(resume)
	for range 100 {
		i, what := -1, r.IntN(11)
		if len(members) > 0 {
			i = r.IntN(len(members))
		}
		switch {
		case i < 0 || what < 4 && len(members) < 6:
			start()
		case what < 6: // leaves
			resume()
			leave(members[i])
			members = slices.Delete(members, i, i+1)
		case what < 8: // is killed, wherever it is
			_ = members[i].cmd.Process.Kill()
			_ = members[i].cmd.Wait()
			members = slices.Delete(members, i, i+1)
		case what == 8: // stops for a while
			_ = members[i].cmd.Process.Signal(syscall.SIGSTOP)
			time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
			_ = members[i].cmd.Process.Signal(syscall.SIGCONT)
		case what == 9: // the server is killed
			if s, ok := Running(dir); ok {
				_ = syscall.Kill(s.PID, syscall.SIGKILL)
			}
		default: // the server stops, and who comes waits for it until it goes on
			if s, ok := Running(dir); ok && syscall.Kill(s.PID, syscall.SIGSTOP) == nil {
				start()
				stopped = append(stopped, s.PID)
			}
		}
		if len(stopped) > 0 && r.IntN(3) == 0 {
			resume()
		}
	}
	resume()
	for _, m := range members {
		leave(m)
	}
	ended(t, dir)
}

// TestKilledAtStart starts a server again that is killed before it answers, and
// gives up on one that always is.
func TestKilledAtStart(t *testing.T) {
	for name, times := range map[string]int{"twice": 2, "always": 100} {
		dir := t.TempDir()
		program := filepath.Join(dir, "temporal-server")
		script := fmt.Sprintf("#!/bin/sh\necho x >>%[1]s/starts\n[ $(wc -l <%[1]s/starts) -gt %[2]d ] || kill -9 $$\nexec %[3]s \"$@\"\n", dir, times, found(t))
		testkit.Program(t, program, script)
		o := Options{Program: program, Dir: filepath.Join(dir, "state")}
		if name == "twice" {
			joined(t, o)
			continue
		}
		s, err := Join(t.Context(), o)
		if err == nil {
			s.Close()
			t.Fatal("a server that is always killed was joined")
		}
		testkit.ErrSays(t, err, "did not start", "killed")
	}
}
