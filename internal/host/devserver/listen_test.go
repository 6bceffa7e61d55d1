package devserver

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/redsi/redsi/internal/system/testkit"
)

// second is another loopback address of this machine: Linux has all of 127.0.0.0/8.
func second(t *testing.T) string {
	t.Helper()
	const address = "127.0.0.2"
	if l, err := net.Listen("tcp", address+":0"); err != nil {
		t.Skip(err)
	} else {
		l.Close()
	}
	return address
}

// TestListen: the front end alone leaves loopback, for holders of the folder's keys; a server that is started in another's place
// listens as that did, and a worker finds it, wherever it is.
func TestListen(t *testing.T) {
	t.Parallel()
	address := second(t)
	s := joined(t, Options{Dir: t.TempDir(), Listen: address})
	ctx := patiently(t)
	c, w := caller(t)(s.ClientOptions()), caller(t)(WorkerOptions(s.o.Dir))
	for range 2 {
		i, _ := Running(s.o.Dir)
		if i.Listen != address || !strings.HasPrefix(i.Address, address+":") || !strings.HasPrefix(i.UI, "http://127.0.0.1:") {
			t.Errorf("%+v", i)
		}
		testkit.Says(t, testkit.Text(t, s.Profile()), `address = "`+i.Address+`"`)
		if runtime.GOOS == "linux" {
			listens(t, i)
		}
		refuses(t, i.Address)
		testkit.None(t, called(ctx, w))
		// The next one has another port, as this one's is in use by then.
		starting := lockOf(s.o.Dir, startLock)
		testkit.None(t, await(ctx, starting, &patience{}, exclusiveLock))
		testkit.None(t, syscall.Kill(i.PID, syscall.SIGKILL))
		l, err := net.Listen("tcp", i.Address)
		for ; err != nil; l, err = net.Listen("tcp", i.Address) { // it is not quite dead
			testkit.None(t, (&patience{}).wait(ctx))
		}
		defer l.Close()
		starting.Close()
		testkit.None(t, called(ctx, c))
		testkit.None(t, called(ctx, w))
	}
	if i, _ := Running(s.o.Dir); i.Address == s.Address {
		t.Errorf("it is at %s again", i.Address)
	}

	o := s.o
	o.Listen = ""
	other, err := Join(ctx, o)
	testkit.None(t, err)
	other.Close()
	o.Listen = "127.0.0.3"
	if other, err := Join(ctx, o); !errors.Is(err, ErrOther) {
		other.Close()
		t.Errorf("at another address: %v", err)
	}
}

// listens fails if a server's process listens anywhere but on 127.0.0.1 and, once, where it says.
func listens(t *testing.T, i Info) {
	t.Helper()
	own := map[string]bool{}
	sockets, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", i.PID))
	testkit.None(t, err)
	for _, fd := range sockets {
		if to, err := os.Readlink(fd); err == nil {
			own[strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")] = true
		}
	}
	var outside []string
	inside := 0
	for _, table := range []string{"tcp", "tcp6"} {
		for line := range strings.Lines(testkit.Text(t, fmt.Sprintf("/proc/%d/net/%s", i.PID, table))) {
			f := strings.Fields(line)
			if len(f) < 10 || f[3] != "0A" || !own[f[9]] { // 0A: it listens
				continue
			}
			host, port, _ := strings.Cut(f[1], ":")
			ip, err := hex.DecodeString(host)
			testkit.None(t, err)
			slices.Reverse(ip)
			n, err := strconv.ParseUint(port, 16, 16)
			testkit.None(t, err)
			if at := net.IP(ip).String(); at == loopback {
				inside++
			} else {
				outside = append(outside, net.JoinHostPort(at, fmt.Sprint(n)))
			}
		}
	}
	if !slices.Equal(outside, []string{i.Address}) || inside != 4 { // history, matching, worker, UI
		t.Errorf("it listens at %q, and at %d ports of loopback", outside, inside)
	}
}

// TestWorkersMay: what the certificate of workers is good for, and what not.
func TestWorkersMay(t *testing.T) {
	t.Parallel()
	s := joined(t, Options{Dir: t.TempDir()})
	ctx, own := patiently(t), caller(t)(s.ClientOptions())
	testkit.None(t, testkit.Err(own.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "its", TaskQueue: "q"}, "Waits")))
	c := caller(t)(WorkerOptions(s.o.Dir))
	svc := c.WorkflowService()
	task, err := svc.PollWorkflowTaskQueue(ctx, &workflowservice.PollWorkflowTaskQueueRequest{Namespace: "default", TaskQueue: &taskqueue.TaskQueue{Name: "q"}})
	if err != nil || task.GetWorkflowExecution().GetWorkflowId() != "its" {
		t.Fatalf("it polls: %v, %v", task, err)
	}
	testkit.None(t, testkit.Err(svc.RespondWorkflowTaskCompleted(ctx, &workflowservice.RespondWorkflowTaskCompletedRequest{Namespace: "default", TaskToken: task.TaskToken})))
	testkit.None(t, c.SignalWorkflow(ctx, "its", "", "x", nil))
	testkit.None(t, testkit.Err(c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: "default"})))
	operator, in := c.OperatorService(), "default"
	denied(t, map[string]error{
		"add a search attribute": testkit.Err(operator.AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{Namespace: in,
			SearchAttributes: map[string]enums.IndexedValueType{"Its": enums.INDEXED_VALUE_TYPE_KEYWORD}})),
		"delete the namespace": testkit.Err(operator.DeleteNamespace(ctx, &operatorservice.DeleteNamespaceRequest{Namespace: in})),
		"list clusters":        testkit.Err(operator.ListClusters(ctx, &operatorservice.ListClustersRequest{})),
		"make a namespace": testkit.Err(svc.RegisterNamespace(ctx, &workflowservice.RegisterNamespaceRequest{Namespace: "its",
			WorkflowExecutionRetentionPeriod: durationpb.New(time.Hour)})),
		"change the namespace": testkit.Err(svc.UpdateNamespace(ctx, &workflowservice.UpdateNamespaceRequest{Namespace: in})),
		"list namespaces":      testkit.Err(svc.ListNamespaces(ctx, &workflowservice.ListNamespacesRequest{})),
		"read another namespace": testkit.Err(svc.ListWorkflowExecutions(ctx,
			&workflowservice.ListWorkflowExecutionsRequest{Namespace: "temporal-system"})),
		"start in another namespace": testkit.Err(svc.StartWorkflowExecution(ctx,
			&workflowservice.StartWorkflowExecutionRequest{Namespace: "temporal-system", WorkflowId: "x"})),
	})
}

// denied fails a test of whose calls one was not denied.
func denied(t *testing.T, calls map[string]error) {
	t.Helper()
	for what, err := range calls {
		if _, ok := errors.AsType[*serviceerror.PermissionDenied](err); !ok {
			t.Errorf("%s: %v, want that it is denied", what, err)
		}
	}
}

// TestListenNowhere: what is no one address of this machine is refused before anything starts, and the reason is said.
func TestListenNowhere(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"203.0.113.9", "0.0.0.0", "::", "localhost", "no-such-host.invalid"} {
		_, err := Join(t.Context(), Options{Program: "/nothing/is/started", Dir: t.TempDir(), Listen: host})
		testkit.ErrIs(t, err, ErrListen, host)
		testkit.ErrSays(t, err, host, "has ")
	}
}

// TestListensElsewhere: a machine that sees the folder of a listening server looks at it and works for it, and does not join it; it
// does nothing of these if the server does not listen.
func TestListensElsewhere(t *testing.T) {
	t.Parallel()
	ctx := patiently(t)
	for _, listen := range []string{second(t), ""} {
		dir := filepath.Join(t.TempDir(), "temporal")
		s := joined(t, Options{Dir: dir, Listen: listen})
		o, _ := elsewhere(dir, 0)
		claimed(t, dir, o.number)
		_, err := Join(ctx, Options{Program: found(t), Dir: dir})
		testkit.ErrIs(t, err, ErrElsewhere, "joined")
		visit, visitErr := Visit(ctx, dir)
		w, workErr := WorkerOptions(dir)
		if listen == "" {
			testkit.ErrSays(t, err, "login2", "redsi dev --listen")
			if visit != nil || !errors.Is(visitErr, ErrElsewhere) || !errors.Is(workErr, ErrElsewhere) {
				t.Errorf("visited: %v, %v, %v", visit, visitErr, workErr)
			}
			continue
		}
		testkit.ErrSays(t, err, "login2", "`redsi worker --state "+filepath.Dir(dir)+"`")
		if visit == nil || visit.Info.Address != s.Address || workErr != nil || w.HostPort != s.Address {
			t.Fatalf("visited: %+v, %v", visit, workErr)
		}
		defer visit.Close()
		testkit.None(t, called(ctx, caller(t)(LookOptions(dir, visit.Info))))
		testkit.None(t, called(ctx, caller(t)(WorkerOptions(dir))))
	}
}
