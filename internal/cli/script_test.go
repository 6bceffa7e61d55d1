package cli

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.yaml.in/yaml/v3"

	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/host/compute/computetest"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/host/environment/indextest"
	"github.com/redsi/redsi/internal/host/isolation"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/internal/system/testkit"
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
	p := testscript.Params{Dir: filepath.Join("testdata", "script"), UpdateScripts: os.Getenv("REDSI_UPDATE") != ""}
	data, err := filepath.Abs("..")
	testkit.None(t, err)
	p.Setup = func(e *testscript.Env) error {
		for _, k := range []string{"REDSI_TEMPORAL_SERVER", "REDSI_MINIO", "REDSI_DEPS", "GOGC", compute.Variable} {
			if v := os.Getenv(k); v != "" {
				e.Setenv(k, v)
			}
		}
		e.Setenv("DATA", data)
		e.Values[hostsKey{}] = map[string]*host{}
		b, err := os.ReadFile(filepath.Join("testdata", "real.hcl"))
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(e.WorkDir, "pipelines.hcl"), b, 0o644)
	}
	p.Cmds = map[string]func(*testscript.TestScript, bool, []string){
		"replace": takes("FILE OLD NEW", replaceInFile),
		"minio":   startMinIO(t),
		"web":     hostCommand("web"),
		"asked":   askedCommand,
		"until":   takes("REGEXP", untilPlan),
		"fetch":   takes("FILE PATH", fetchCommand),
		"nowhere": nowhere,
		"static":  hostCommand("static"),
		"secure":  hostCommand("secure"),
		"private": takes("FILE", private),
		"sign-as": takes("NAME", signAs),
		"unpack":  takes("ARCHIVE NAME FILE", unpackCommand),
		"start":   takes("ID INPUT FILE", startCommand),
		"index":   indexCommand(t),
		"ci":      takes("FILE JOB", ciCommand),
	}
	testscript.Run(t, p)
}

// takes is a command with so many arguments.
func takes(words string, command func(*testscript.TestScript, bool, []string)) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if len(args) != len(strings.Fields(words)) {
			ts.Fatalf("usage: %s, not %q", words, args)
		}
		command(ts, neg, args)
	}
}

// replaceInFile is: replace FILE OLD NEW. OLD must be there.
func replaceInFile(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	b, err := os.ReadFile(path)
	ts.Check(err)
	if !strings.Contains(string(b), args[1]) {
		ts.Fatalf("%s has no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(path, []byte(strings.ReplaceAll(string(b), args[1], args[2])), 0o644))
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
	z, err := zip.OpenReader(ts.MkAbs(args[0]))
	ts.Check(err)
	defer z.Close()
	b, err := fs.ReadFile(z, args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), b, 0o644))
}

// nowhere is: nowhere TEXT PATH... No file there has the text, in its bytes or
// its name.
func nowhere(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: nowhere TEXT PATH...")
	}
	found := ""
	for _, root := range args[1:] {
		ts.Check(filepath.WalkDir(ts.MkAbs(root), func(p string, d fs.DirEntry, err error) error {
			if err != nil && os.IsNotExist(err) {
				return nil
			}
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(p)
			if bytes.Contains(b, []byte(args[0])) || bytes.Contains([]byte(d.Name()), []byte(args[0])) {
				found = p
			}
			return err
		}))
	}
	if (found == "") == neg {
		ts.Fatalf("%q was found in %q", args[0], found)
	}
}

// private is: private FILE. Its owner alone may read it.
func private(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if info.Mode().Perm() != 0o600 {
		ts.Fatalf("%s has mode %v", args[0], info.Mode())
	}
}

// fetchCommand is: fetch FILE PATH. FILE will have the address of a server, which
// may still be starting; the answer goes to stdout, and its status to stderr.
func fetchCommand(ts *testscript.TestScript, _ bool, args []string) {
	var address string
	for end := time.Now().Add(3 * time.Minute); !strings.HasSuffix(address, "\n"); {
		b, err := os.ReadFile(ts.MkAbs(args[0]))
		if err != nil && !os.IsNotExist(err) || time.Now().After(end) {
			ts.Fatalf("%s has no address: %v", args[0], err)
		}
		address = string(b)
	}
	resp, err := http.Get(strings.TrimSpace(address) + args[1])
	ts.Check(err)
	defer resp.Body.Close()
	_, err = io.Copy(ts.Stdout(), resp.Body)
	ts.Check(err)
	fmt.Fprintln(ts.Stderr(), resp.Status)
}

// signAs makes a signing key of a name, and lets redsi sign by it from here on.
func signAs(ts *testscript.TestScript, neg bool, args []string) {
	path := filepath.Join(ts.Getenv("WORK"), args[0]+".key")
	k, err := signature.New(args[0])
	ts.Check(err)
	ts.Check(k.Write(path))
	ts.Setenv("REDSI_SIGNING_KEY", path)
}

// ciJob is a job of a workflow of GitHub's or of GitLab's CI, as far as its commands go.
type ciJob struct {
	Env    map[string]string
	Steps  []ciStep // GitHub's
	Before []string `yaml:"before_script"`
	Script []string
	After  []string `yaml:"after_script"`
}

type ciStep struct {
	If, Run, Uses string
	Env           map[string]string
}

// ciCommand is: ci FILE JOB. It runs the commands of a job in their order, after one has failed
// those that always run, as the service's runner does. What the runner does itself, such as
// restoring a cache, is the script's.
func ciCommand(ts *testscript.TestScript, neg bool, args []string) {
	b, err := os.ReadFile(example(filepath.Join("ci", args[0])))
	ts.Check(err)
	var file struct {
		Env       map[string]string
		Variables map[string]string
		Default   ciJob
		Jobs      map[string]ciJob
	}
	ts.Check(yaml.Unmarshal(b, &file))
	job, ok := file.Jobs[args[1]]
	if !ok { // GitLab's
		all := map[string]yaml.Node{}
		ts.Check(yaml.Unmarshal(b, &all))
		node := all[args[1]]
		ts.Check(node.Decode(&job))
		if job.Before == nil {
			job.Before = file.Default.Before
		}
		job.Steps = []ciStep{{Run: "(set -o pipefail\n" + strings.Join(slices.Concat(job.Before, job.Script), "\n") + "\n)\n" + strings.Join(job.After, "\n")}}
	}
	commands, failed := 0, false
	for _, s := range job.Steps {
		if s.Uses != "" && !strings.HasPrefix(s.Uses, "actions/") {
			ts.Fatalf("%s is not one of GitHub's own actions", s.Uses)
		}
		if s.Run == "" || failed && s.If != "always()" {
			continue
		}
		commands++
		env := map[string]string{}
		for _, more := range []map[string]string{file.Env, file.Variables, job.Env, s.Env} {
			maps.Copy(env, more)
		}
		line := []string{}
		for name, value := range env {
			line = append(line, name+"="+expression.ReplaceAllStringFunc(value, func(x string) string {
				return ts.Getenv(strings.NewReplacer("${{ ", "", " }}", "", ".", "_").Replace(x))
			}))
		}
		if expression.MatchString(s.Run) {
			ts.Fatalf("an expression becomes part of a command, so that who names a branch may run one: %s", s.Run)
		}
		failed = ts.Exec("env", append(line, "bash", "-e", "-c", s.Run)...) != nil || failed
	}
	if failed != neg {
		ts.Fatalf("the job failed is %v", failed)
	}
	if commands == 0 {
		ts.Fatalf("%s has no job %s with commands", args[0], args[1])
	}
}

// expression is one of GitHub's; a script sets github.event.number as github_event_number.
var expression = regexp.MustCompile(`\$\{\{ [^}]* \}\}`)
