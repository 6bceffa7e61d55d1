package cli

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"

	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/host/compute/computetest"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/host/environment/indextest"
	"github.com/redsi/redsi/internal/host/isolation"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/workflows"
)

// TestMain lets the scripts call this test program as redsi, and holds what it prints to it.
func TestMain(m *testing.M) {
	isolation.Helper() // if this process is one
	testscript.Main(computetest.Tests{M: m}, map[string]func(){"redsi": func() { os.Exit(mainHeld()) }})
}

// TestScripts runs testdata/script/*.txtar: whole command lines, on a real
// embedded Temporal and real Natural Questions records.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scripts(t, testscript.Params{Dir: filepath.Join("testdata", "script")}))
}

// scripts adds to p what all scripts have.
func scripts(t *testing.T, p testscript.Params) testscript.Params {
	data, err := filepath.Abs("..")
	errtest.None(t, err)
	p.Setup = func(e *testscript.Env) error {
		for _, k := range []string{"REDSI_TEMPORAL_SERVER", "REDSI_MINIO", "REDSI_DEPS", "GOGC", compute.Variable} {
			if v := os.Getenv(k); v != "" {
				e.Setenv(k, v)
			}
		}
		e.Setenv("DATA", data)
		w := newWeb(data)
		e.Values[webKey{}] = w
		e.Defer(func() { w.CloseClientConnections(); w.Close() })
		host := newStatic()
		e.Values[staticKey{}] = host
		e.Values[secureKey{}] = &secure{}
		e.Defer(host.Close)
		for _, f := range []string{"real.hcl"} {
			b, err := os.ReadFile(filepath.Join("testdata", f))
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(e.WorkDir, "pipelines.hcl"), b, 0o644); err != nil {
				return err
			}
		}
		return nil
	}
	p.Cmds = map[string]func(*testscript.TestScript, bool, []string){
		"replace": replaceInFile,
		"minio":   startMinIO(t),
		"same":    sameFiles,
		"web":     webCommand,
		"asked":   askedCommand,
		"until":   untilPlan,
		"fetch":   fetchCommand,
		"nowhere": nowhere,
		"static":  staticCommand,
		"secure":  secureCommand,
		"private": private,
		"sign-as": signAs,
		"unpack":  unpackCommand,
		"start":   startCommand,
		"index":   indexCommand(t),
		"ci":      ciCommand,
	}
	p.UpdateScripts = os.Getenv("REDSI_UPDATE") != ""
	return p
}

// replaceInFile is: replace FILE OLD NEW. OLD must be there.
func replaceInFile(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: replace FILE OLD NEW")
	}
	path := ts.MkAbs(args[0])
	b, err := os.ReadFile(path)
	ts.Check(err)
	if !strings.Contains(string(b), args[1]) {
		ts.Fatalf("%s has no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(path, []byte(strings.ReplaceAll(string(b), args[1], args[2])), 0o644))
}

// sameFiles is: same A B. The files have the same bytes.
func sameFiles(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: same A B")
	}
	a, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	b, err := os.ReadFile(ts.MkAbs(args[1]))
	ts.Check(err)
	if bytes.Equal(a, b) == neg {
		ts.Fatalf("%s and %s: same bytes is %v", args[0], args[1], !neg)
	}
}

// startMinIO is: minio. It starts a server and sets STORE to a bucket on it, OTHER_STORE to
// another prefix of that, and MINIO_DIR to its folder.
func startMinIO(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, _ []string) {
		m := storetest.MinIO(t)
		ts.Setenv("STORE", m.URL("paper"))
		ts.Setenv("OTHER_STORE", m.URL("other"))
		ts.Setenv("MINIO_DIR", m.Dir)
		for _, kv := range m.Env() {
			k, v, _ := strings.Cut(kv, "=")
			ts.Setenv(k, v)
		}
	}
}

// untilPlan is: until REGEXP. It asks `redsi plan` until the answer matches.
func untilPlan(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: until REGEXP")
	}
	want := regexp.MustCompile(args[0])
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); {
		ts.Check(ts.Exec("redsi", "plan", "--all"))
		if want.MatchString(ts.ReadFile("stdout")) {
			return
		}
	}
	ts.Fatalf("the plan never showed %s", args[0])
}

// indexCommand is: index NAME-VERSION... It serves packages as an index, INDEX, and sets what uv is
// run with. BARE is a PATH without uv.
func indexCommand(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		var list []indextest.Package
		for _, a := range args {
			name, version, _ := strings.Cut(a, "-")
			list = append(list, indextest.Package{Name: name, Version: version, Licence: "MIT"})
		}
		x := indextest.Serve(t, list...)
		redsi, _, _ := strings.Cut(ts.Getenv("PATH"), ":")
		for name, value := range indextest.Variables(t, true) {
			ts.Setenv(name, value)
		}
		ts.Setenv("BARE", redsi+":/usr/bin:/bin")
		ts.Setenv("PATH", ts.Getenv("PATH")+":"+redsi)
		ts.Setenv("INDEX", x.URL)
		ts.Setenv("REDSI_VAR_python", indextest.Python(t))
	}
}

// startCommand starts the workflow of a run as people do who use Temporal's own tools, with the profile of the state
// folder, and writes its result, or why it failed: start ID INPUT FILE.
func startCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: start ID INPUT FILE")
	}
	o, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{ConfigFilePath: ts.MkAbs(".redsi/temporal/temporal.toml"), ConfigFileProfile: devserver.ProfileName})
	ts.Check(err)
	c, err := client.Dial(o)
	ts.Check(err)
	defer c.Close()
	ctx := context.Background()
	w, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: args[0], TaskQueue: workflows.TaskQueue}, workflows.ReproduceWorkflow, json.RawMessage(args[1]))
	ts.Check(err)
	var result json.RawMessage
	err = w.Get(ctx, &result)
	if err != nil {
		result = []byte(err.Error())
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), result, 0o644))
	if neg == (err == nil) {
		ts.Fatalf("%s", result)
	}
}

// unpackCommand writes a file of a ZIP: unpack ARCHIVE NAME FILE.
func unpackCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: unpack ARCHIVE NAME FILE")
	}
	z, err := zip.OpenReader(ts.MkAbs(args[0]))
	ts.Check(err)
	defer z.Close()
	b, err := fs.ReadFile(z, args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), b, 0o644))
}
