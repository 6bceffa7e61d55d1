package devserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
)

// Options says how to start a server.
type Options struct {
	Program          string // path of the temporal program
	Dir              string // where its database and log go; "" keeps it in memory
	Port             int    // of the gRPC frontend; 0: a free one
	UI               bool
	UIPort           int // 0: a free one
	SearchAttributes []string
}

// Server is a running server.
type Server struct {
	Address string // host:port of the gRPC frontend
	UI      string // URL of the web UI; "" without one
	Log     string // log file; "" in memory

	cmd    *exec.Cmd
	exited chan struct{}
	output *bytes.Buffer
}

// tuning lifts the queue readers' throttles, which a single machine does not
// need: an empty activity takes 10 ms instead of 85 (design.md §5).
var tuning = []string{
	"history.transferProcessorMaxPollRPS=2000",
	"history.transferProcessorMaxPollHostRPS=5000",
	"history.timerProcessorMaxPollRPS=2000",
	"frontend.enableUpdateWorkflowExecution=true",
	"limit.maxIDLength=1000",
}

// ErrPort says that a port that was asked for cannot be had.
var ErrPort = errors.New("it cannot be listened at")

// claimable fails if another program listens on port; 0 is always free. Asked
// before the start: a server that finds its port taken dies, while the other one
// answers and would be taken for it.
func claimable(port int) error {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("port %d: %w: %w", port, ErrPort, err)
	}
	return l.Close()
}

// Start runs a server and waits until it answers. It ends with Stop, with ctx,
// and, where the system can do that, with this process however it dies.
func Start(ctx context.Context, o Options) (*Server, error) {
	var err error
	asked := []int{o.Port, o.UIPort}
	if o.Port == 0 {
		if o.Port, err = freePort(); err != nil {
			return nil, err
		}
	}
	args := []string{"server", "start-dev", "--ip", "127.0.0.1", "--port", strconv.Itoa(o.Port), "--log-level", "error"}
	s := &Server{Address: net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)), exited: make(chan struct{}), output: &bytes.Buffer{}}
	if o.UI {
		if o.UIPort == 0 {
			if o.UIPort, err = freePort(); err != nil {
				return nil, err
			}
		}
		args = append(args, "--ui-port", strconv.Itoa(o.UIPort))
		s.UI = "http://127.0.0.1:" + strconv.Itoa(o.UIPort)
	} else {
		args = append(args, "--headless")
	}
	if o.Dir != "" {
		if err := os.MkdirAll(o.Dir, 0o755); err != nil {
			return nil, err
		}
		if err := endOrphan(o.Dir); err != nil { // it may hold the ports
			return nil, err
		}
		args = append(args, "--db-filename", filepath.Join(o.Dir, "temporal.db"))
		s.Log = filepath.Join(o.Dir, "temporal.log")
	}
	for _, port := range asked {
		if err := claimable(port); err != nil {
			return nil, err
		}
	}
	for _, a := range o.SearchAttributes {
		args = append(args, "--search-attribute", a+"=Keyword")
	}
	for _, t := range tuning {
		args = append(args, "--dynamic-config-value", t)
	}
	if err := s.spawn(o, args); err != nil {
		return nil, err
	}
	if err := s.wait(ctx); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

func (s *Server) spawn(o Options, args []string) error {
	s.cmd = exec.Command(o.Program, args...)
	s.cmd.SysProcAttr = childAttributes()
	s.cmd.Stdout, s.cmd.Stderr = s.output, s.output
	if s.Log != "" {
		f, err := os.Create(s.Log)
		if err != nil {
			return err
		}
		defer f.Close()
		s.cmd.Stdout, s.cmd.Stderr = f, f
	}
	if err := startBound(s.cmd, s.exited); err != nil {
		return fmt.Errorf("start %s: %w", o.Program, err)
	}
	if o.Dir != "" {
		return os.WriteFile(filepath.Join(o.Dir, pidFile), []byte(strconv.Itoa(s.cmd.Process.Pid)), 0o644)
	}
	return nil
}

// wait dials until the server answers, it exits, or a minute has passed.
func (s *Server) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		err := answers(ctx, s.Address)
		if err == nil {
			return nil
		}
		select {
		case <-s.exited:
			return fmt.Errorf("the temporal server ended while it started: %s%s", s.said(), s.remedy())
		case <-ctx.Done():
			return fmt.Errorf("the temporal server does not answer at %s: %w (%s)", s.Address, err, s.said())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// answers asks a server whether it is there.
func answers(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	c, err := client.DialContext(ctx, client.Options{HostPort: address, Logger: quiet{}})
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.WorkflowService().DescribeNamespace(ctx, describeDefault())
	return err
}

// said is the end of what the server printed.
func (s *Server) said() string {
	b := []byte(nil)
	if s.Log != "" {
		b, _ = os.ReadFile(s.Log)
	} else if isClosed(s.exited) {
		b = s.output.Bytes()
	}
	if len(b) > 2000 {
		b = b[len(b)-2000:]
	}
	if len(b) == 0 {
		return "it printed nothing"
	}
	return string(bytes.TrimSpace(b))
}

// remedy is what helps against a database that the server cannot open.
func (s *Server) remedy() string {
	if s.Log == "" {
		return ""
	}
	return fmt.Sprintf("\nIf it is about the database, delete %s: the history of runs is there, results are not.", filepath.Dir(s.Log))
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// stopGrace is how long a server may take to end by itself. What it has answered
// is in its database, which survives a kill.
const stopGrace = 500 * time.Millisecond

// Stop ends the server: politely, then for good.
func (s *Server) Stop() {
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.exited:
	case <-time.After(stopGrace):
		_ = s.cmd.Process.Kill()
		<-s.exited
	}
}

// freePort finds a port that no other process will be given in the next minute: a
// connection that was accepted on it leaves it in TIME_WAIT, in which the system
// hands it out to nobody who does not ask for it by number.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	out, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return 0, err
	}
	in, err := l.Accept()
	if err != nil {
		out.Close()
		return 0, err
	}
	in.Close() // first, so that this side, the port's, waits
	out.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// quiet drops the SDK's messages about a server that is not there yet.
type quiet struct{}

var _ log.Logger = quiet{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
