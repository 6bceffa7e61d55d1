package cli

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"
)

// ciJob is a job of a workflow of GitHub's or of GitLab's CI, as far as its commands go.
type ciJob struct {
	Env    map[string]string
	Steps  []ciStep // GitHub's
	Before []string `yaml:"before_script"`
	Script []string
	After  []string `yaml:"after_script"`
}

type ciStep struct {
	Run, Uses string
	Env       map[string]string
}

// ciCommand is: ci FILE JOB. It runs the commands of a job in their order, as the service's
// runner does. What the runner does itself, such as restoring a cache, is the script's.
func ciCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: ci FILE JOB")
	}
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
	commands := 0
	for _, s := range job.Steps {
		if s.Uses != "" && !strings.HasPrefix(s.Uses, "actions/") {
			ts.Fatalf("%s is not one of GitHub's own actions", s.Uses)
		}
		if s.Run == "" {
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
		ts.Check(ts.Exec("env", append(line, "bash", "-e", "-c", s.Run)...))
	}
	if commands == 0 {
		ts.Fatalf("%s has no job %s with commands", args[0], args[1])
	}
}

// expression is one of GitHub's; a script sets github.event.number as github_event_number.
var expression = regexp.MustCompile(`\$\{\{ [^}]* \}\}`)
