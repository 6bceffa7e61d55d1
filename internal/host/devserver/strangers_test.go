package devserver

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"io/fs"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestStrangers: only holders of the folder's key may call the server, and its UI
// neither changes anything nor answers pages of other origins or under other names.
func TestStrangers(t *testing.T) {
	s := joined(t, Options{Dir: t.TempDir()})
	refuses(t, s.Address)
	const start = "/api/v1/namespaces/default/workflows/x"
	host := strings.TrimPrefix(s.UI, "http://")
	for _, q := range []struct {
		method, path, host, origin string
		want                       int
	}{
		{"GET", "/", host, "", 200},
		{"GET", "/api/v1/namespaces/default/workflows", host, "", 200},
		{"GET", "/api/v1/namespaces/default/workflows", "localhost", "", 200},
		{"GET", "/api/v1/namespaces/default/workflows", "evil.example", "", 403},
		{"GET", "/api/v1/namespaces/default/workflows", host, "http://evil.example", 403},
		{"POST", start, host, "", 405},
		{"POST", start, "evil.example", "http://evil.example", 403},
		{"POST", start + "%2Fquery%2Fx", host, "", 405},
		{"POST", start + "/query/%2e%2e%2f", host, "", 405},
		{"PUT", start, host, "", 405},
		{"OPTIONS", start, host, "http://evil.example", 403},
	} {
		r, err := http.NewRequestWithContext(t.Context(), q.method, s.UI+q.path, strings.NewReader(`{"workflowType":{"name":"Reproduce"},"taskQueue":{"name":"redsi"}}`))
		testkit.None(t, err)
		r.Host = q.host
		r.Header.Set("Content-Type", "text/plain")
		if q.origin != "" {
			r.Header.Set("Origin", q.origin)
		}
		a, err := http.DefaultClient.Do(r)
		testkit.None(t, err)
		a.Body.Close()
		if a.StatusCode != q.want {
			t.Errorf("%s %s of %s, origin %q: %d, want %d", q.method, q.path, q.host, q.origin, a.StatusCode, q.want)
		}
	}
	for _, name := range []string{"tls", "tls/client.key", "tls/ca.key", "temporal.db"} {
		st, err := os.Stat(filepath.Join(s.o.Dir, name))
		testkit.None(t, err, name, st.Mode())
		testkit.Is(t, st.Mode().Perm()&0o077, 0, name, st.Mode())
	}
}

// refuses fails a test whose server answers without a certificate.
func refuses(t *testing.T, address string) {
	t.Helper()
	for name, o := range map[string]client.ConnectionOptions{"plain": {}, "without a certificate": {TLS: &tls.Config{InsecureSkipVerify: true}}} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if c, err := client.DialContext(ctx, client.Options{HostPort: address, ConnectionOptions: o, Logger: quiet}); err == nil {
			c.Close()
			t.Errorf("%s: the server answers", name)
		}
		cancel()
	}
}

// TestReader: who has a certificate of the web UI's name, which the server alone can
// make, may read and nothing else, by whichever way it calls.
func TestReader(t *testing.T) {
	s := joined(t, Options{Dir: t.TempDir()})
	o, err := s.ClientOptions()
	testkit.None(t, err)
	ctx, own := patiently(t), caller(t)(s.ClientOptions())
	testkit.None(t, testkit.Err(own.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "its", TaskQueue: "nobody"}, "Waits")))
	o.ConnectionOptions.TLS.Certificates = []tls.Certificate{named(t, filepath.Join(s.o.Dir, "tls"), "ui")}
	c := caller(t)(o, nil)
	testkit.None(t, called(ctx, c), "it may not list")
	testkit.None(t, testkit.Err(c.DescribeWorkflowExecution(ctx, "its", "")), "it may not look at a workflow")
	if it := c.GetWorkflowHistory(ctx, "its", "", false, 0); !it.HasNext() {
		t.Error("it may not read a history")
	} else if _, err := it.Next(); err != nil {
		t.Errorf("it may not read a history: %v", err)
	}
	queue := &taskqueue.TaskQueue{Name: "nobody"}
	one := &common.WorkflowExecution{WorkflowId: "its"}
	svc := c.WorkflowService()
	denied(t, map[string]error{
		"start":     testkit.Err(c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{TaskQueue: "nobody"}, "Other")),
		"signal":    c.SignalWorkflow(ctx, "its", "", "x", nil),
		"cancel":    c.CancelWorkflow(ctx, "its", ""),
		"terminate": c.TerminateWorkflow(ctx, "its", "", ""),
		"reset": testkit.Err(c.ResetWorkflowExecution(ctx,
			&workflowservice.ResetWorkflowExecutionRequest{Namespace: "default", WorkflowExecution: one, WorkflowTaskFinishEventId: 3})),
		"delete": testkit.Err(svc.DeleteWorkflowExecution(ctx,
			&workflowservice.DeleteWorkflowExecutionRequest{Namespace: "default", WorkflowExecution: one})),
		"take a workflow's task": testkit.Err(svc.PollWorkflowTaskQueue(ctx,
			&workflowservice.PollWorkflowTaskQueueRequest{Namespace: "default", TaskQueue: queue})),
		"take an activity's task": testkit.Err(svc.PollActivityTaskQueue(ctx,
			&workflowservice.PollActivityTaskQueueRequest{Namespace: "default", TaskQueue: queue})),
		"make a namespace": testkit.Err(svc.RegisterNamespace(ctx, &workflowservice.RegisterNamespaceRequest{Namespace: "its"})),
	})
	d, err := own.DescribeWorkflowExecution(ctx, "its", "")
	if err != nil || d.WorkflowExecutionInfo.CloseTime != nil || d.WorkflowExecutionInfo.HistoryLength != 2 {
		t.Errorf("afterwards the workflow is %v, %v", d, err)
	}

	// A name that the server knows nothing of may nothing, whoever signed it.
	o.ConnectionOptions.TLS = o.ConnectionOptions.TLS.Clone()
	o.ConnectionOptions.TLS.Certificates = []tls.Certificate{named(t, filepath.Join(s.o.Dir, "tls"), "somebody")}
	denied(t, map[string]error{"look": testkit.Err(caller(t)(o, nil).DescribeWorkflowExecution(ctx, "its", ""))})
}

// named is a caller's certificate of that name, signed by a folder's authority.
func named(t *testing.T, dir, name string) tls.Certificate {
	t.Helper()
	ca, err := tls.LoadX509KeyPair(filepath.Join(dir, "ca.pem"), filepath.Join(dir, "ca.key"))
	testkit.None(t, err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testkit.None(t, err)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Unix(0, 0), NotAfter: time.Now().AddDate(1, 0, 0), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, ca.Leaf, &key.PublicKey, ca.PrivateKey)
	testkit.None(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// A test program with strangerOf set tries what another account of the machine can
// get of the folder and of the server that it names.
const (
	strangerOf = "REDSI_TEST_STRANGER"
	nobody     = 65534
)

// tried is what a stranger has to say.
type tried struct {
	UID  int
	Read []string // files that it could read, or folders that it could write to
	Call []string // ways in which the server answered
}

func stranger(told string) error {
	dir, address, _ := strings.Cut(told, "\n")
	x := tried{UID: os.Getuid()}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // a folder that it may not list
		}
		if e.IsDir() {
			if f, err := os.CreateTemp(p, "stranger-"); err == nil {
				f.Close()
				x.Read = append(x.Read, p)
			}
			return nil
		}
		if f, err := os.Open(p); err == nil {
			f.Close()
			x.Read = append(x.Read, p)
		}
		return nil
	})
	// It knows the names, so it need not list anything.
	for _, name := range []string{"tls/client.key", "tls/client.pem", "tls/ca.key", "temporal.db", "temporal.db-wal", "temporal.toml", "server.json"} {
		if f, err := os.Open(filepath.Join(dir, name)); err == nil {
			f.Close()
			x.Read = append(x.Read, name)
		}
	}
	for name, config := range map[string]*tls.Config{"plain": nil, "TLS": {InsecureSkipVerify: true}} {
		c, dialErr := client.NewLazyClient(client.Options{HostPort: address, ConnectionOptions: client.ConnectionOptions{TLS: config}, Logger: quiet})
		if dialErr != nil {
			return dialErr
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		_, callErr := c.WorkflowService().ListWorkflowExecutions(ctx, &workflowservice.ListWorkflowExecutionsRequest{Namespace: "default"})
		cancel()
		if callErr == nil {
			x.Call = append(x.Call, name)
		}
	}
	return errors.Join(err, json.NewEncoder(os.Stdout).Encode(x))
}

// TestOtherAccount: another account of this machine gets neither the folder's keys and
// histories nor an answer of the server. Being another account takes root; the modes
// that keep it out are looked at by whoever runs this.
func TestOtherAccount(t *testing.T) {
	top, err := os.MkdirTemp("", "redsi-account-*") // not below a folder that is closed to others
	testkit.None(t, err)
	t.Cleanup(func() { os.RemoveAll(top) })
	testkit.None(t, os.Chmod(top, 0o755))
	dir := filepath.Join(top, ".redsi", "temporal")
	s := joined(t, Options{Dir: dir})
	if err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a file of the database that came and went
		}
		if err == nil && info.Mode().Perm()&0o022 != 0 {
			t.Errorf("%s has mode %v: others may write to it", p, info.Mode())
		}
		if err == nil && !e.IsDir() && info.Mode().Perm()&0o044 != 0 && !harmless(p) {
			t.Errorf("%s has mode %v: others may read it", p, info.Mode())
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		t.Logf("not root, so no process of another account was started: modes were looked at")
		return
	}
	program := filepath.Join(top, "stranger")
	testkit.Program(t, program, testkit.Text(t, os.Args[0]))
	var out, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", &out, &stderr
	cmd.Env = []string{strangerOf + "=" + dir + "\n" + s.Address, "HOME=/nonexistent"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	testkit.None(t, cmd.Run(), &stderr)
	var x tried
	testkit.None(t, json.Unmarshal(out.Bytes(), &x), &out)
	for _, p := range x.Read {
		if !harmless(p) {
			t.Errorf("it could use %s", p)
		}
	}
	testkit.That(t, x.UID == nobody && len(x.Call) <= 0, "as", x.UID, "it was answered by", x.Call)
}

// harmless reports whether anybody may read a file: locks, which hold nothing.
func harmless(path string) bool { return filepath.Ext(path) == ".lock" }
