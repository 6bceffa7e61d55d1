package local_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/host/capacity"
	"github.com/redsi/redsi/internal/host/slurm"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/local"
	"github.com/redsi/redsi/internal/system/testkit"
)

const localText = `
store = "s"
variables {
  scale = "toy"
  n     = 3
}
temporal { address = "h:7233" }
profile "laptop" {
  store = "of the laptop"
  variables { n = 4 }
  temporal { namespace = "ada" }
}
profile "cluster" { state = "elsewhere" }
`

func TestParse(t *testing.T) {
	for _, c := range []struct{ profile, store, state, namespace, n string }{
		{"", "s", "", "", "3"},
		{"laptop", "of the laptop", "", "ada", "4"},
		{"cluster", "s", "elsewhere", "", "3"},
	} {
		l, ds := local.Parse("redsi.local.hcl", []byte(localText), c.profile)
		testkit.None(t, ds.Err())
		if l.Store != c.store || l.State != c.state || l.Temporal.Address != "h:7233" || l.Temporal.Namespace != c.namespace {
			t.Errorf("%q: %+v", c.profile, l)
		}
		p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte("variable \"scale\" { default = \"full\" }\nvariable \"n\" { default = 1 }")},
			pipeline.Options{Local: l.Variables})
		testkit.None(t, ds.Err())
		if got := p.Inputs; got["scale"] != "toy" || got["n"] != c.n || strings.Join(p.Local, " ") != "n scale" {
			t.Errorf("%q: %v, %v", c.profile, got, p.Local)
		}
	}
}

func TestMistakes(t *testing.T) {
	for source, want := range map[string]string{
		`stroe = "x"`:                               `Did you mean "store"?`,
		`store = 1`:                                 "is a text",
		`store = ""`:                                "not empty",
		`variable { x = 1 }`:                        `Did you mean "variables"?`,
		`variables { x "y" {} }`:                    "lock",
		`temporal { adress = "x" }`:                 `Did you mean "address"?`,
		`profile { }`:                               "label",
		"profile \"p\" {}\nprofile \"p\" {}":        "another profile",
		"profile \"p\" {\n  profile \"q\" {}\n}":    "not expected",
		"profile \"other\" { store = x }":           "ariables",
		"profile \"q\" {}\nprofile \"laptob\" {}\n": `Did you mean "laptob"?`,
		`store = `:                                  "expression",
	} {
		_, ds := local.Parse("redsi.local.hcl", []byte(source), "laptop")
		testkit.ErrSays(t, ds.Err(), want, "redsi.local.hcl:")
	}
}

// TestSecret: a mistake in a line shows nothing of it.
func TestSecret(t *testing.T) {
	_, ds := local.Parse("redsi.local.hcl", []byte("variables {\n  token = \"planted\n}\n"), "")
	var out strings.Builder
	if err := ds.Write(&out, pipeline.Style{}); err != nil || !strings.Contains(out.String(), "redsi.local.hcl:2") || strings.Contains(out.String(), "planted") {
		t.Error(err, out.String())
	}
}

// TestOthers: the settings name other stores; what is not one is reported with its place.
func TestOthers(t *testing.T) {
	l, ds := local.Parse("redsi.local.hcl", []byte(`from = ["https://example.org/x", "../y"]
require_from = true
profile "far" {
  from      = ["z"]
  untrusted = "use"
}`), "far")
	if ds.HasErrors() || !slices.Equal(l.From, []string{"z"}) || !l.RequireFrom || l.Untrusted != "use" {
		t.Errorf("%+v, %v", l, ds.List)
	}
	for _, bad := range []string{`from = "x"`, `from = [""]`, `from = [null]`, `from = null`, `require_from = "yes"`, `untrusted = "often"`, `untrusted = 7`} {
		if _, ds := local.Parse("redsi.local.hcl", []byte(bad), ""); !ds.HasErrors() || ds.List[0].Subject.Start.Line != 1 {
			t.Errorf("%s: %v", bad, ds.List)
		}
	}
}

const slurmText = `slurm {
  setup = ["module load cuda/13"]
  max   = 10
  head  = ["--partition=long"]
  pilot "cpu" {
    cpus   = 8
    memory = "32GB"
    time   = "4h"
  }
  pilot "gpu" {
    flags  = ["--partition=gpu", "--account=x"]
    cpus   = 4
    memory = "64GB"
    gpus   = 1
    time   = "12h"
    max    = 4
    idle   = "2m"
  }
}
profile "near" {}
profile "far" {
  slurm {
    pilot "one" {
      cpus   = 1
      memory = "1GB"
      time   = "1h"
    }
  }
}
`

// TestSlurm: a pilot has what it says, and usual values; a profile's block stands in place of the file's.
func TestSlurm(t *testing.T) {
	site := slurm.Site{Setup: []string{"module load cuda/13"}, Max: 10, Head: []string{"--partition=long"}, Pilots: []slurm.Pilot{
		{Name: "cpu", Has: capacity.Amount{CPUs: 8, Memory: 32e9}, Time: 4 * time.Hour, Max: 20, Idle: 5 * time.Minute, At: "redsi.local.hcl:5"},
		{Name: "gpu", Flags: []string{"--partition=gpu", "--account=x"}, Has: capacity.Amount{CPUs: 4, Memory: 64e9, GPUs: 1}, Time: 12 * time.Hour, Max: 4, Idle: 2 * time.Minute, At: "redsi.local.hcl:10"},
	}}
	far := slurm.Site{Max: 20, Pilots: []slurm.Pilot{{Name: "one", Has: capacity.Amount{CPUs: 1, Memory: 1e9}, Time: time.Hour, Max: 20, Idle: 5 * time.Minute, At: "redsi.local.hcl:23"}}}
	for profile, want := range map[string]slurm.Site{"": site, "near": site, "far": far} {
		l, ds := local.Parse("redsi.local.hcl", []byte(slurmText), profile)
		testkit.None(t, ds.Err())
		testkit.That(t, l.Slurm != nil && reflect.DeepEqual(*l.Slurm, want), profile, l.Slurm, "want", want)
	}
}

func TestSlurmMistakes(t *testing.T) {
	for change, want := range map[string]string{
		`max   = 10/max = "10"`:                                     "redsi.local.hcl:3|Wrong type|max is a number without quotes",
		`max   = 10/max = 0`:                                        "redsi.local.hcl:3|Wrong value|max: want a number from 1 to 1000, got 0.",
		`max   = 10/slots = 10`:                                     "redsi.local.hcl:3|Unsupported argument",
		`cpus   = 8/cpus = 1.5`:                                     "redsi.local.hcl:6|Wrong value|cpus: want a number from 1 to 1048576, got 1.5.",
		`memory = "32GB"/memory = 32`:                               "redsi.local.hcl:7|Wrong type|memory is a text in quotes",
		`memory = "32GB"/memory = "32"`:                             `want a size with its unit, such as "32GB", got "32".`,
		`time   = "4h"/`:                                            `redsi.local.hcl:5|Wrong pilot|Pilot cpu: it says what Slurm shall give it by cpus`,
		`time   = "4h"/time = "1m"`:                                 "redsi.local.hcl:8|Wrong value|time: want a time of 5m0s or more",
		`idle   = "2m"/idle = "0"`:                                  "redsi.local.hcl:17|Wrong value|idle: want a time of 1s or more",
		`["--partition=gpu", "--account=x"]/"--partition=gpu"`:      `flags is a list of flags of sbatch, such as ["--partition=short"].`,
		`pilot "gpu"/pilot "cpu"`:                                   `redsi.local.hcl:10|Declared twice|There is another pilot "cpu"`,
		`pilot "gpu"/pilot "head"`:                                  "32 at most, and is not head, which is the run's own job",
		`head  = ["--partition=long"]/head = "-p long"`:             "redsi.local.hcl:4|Wrong type|head is a list of flags of sbatch",
		`pilot "gpu"/pilot "a card"`:                                "redsi.local.hcl:10|Wrong pilot|Pilot a card: its name wants letters",
		`pilot "gpu"/pilots "gpu"`:                                  `Did you mean "pilot"?`,
		"profile \"near\" {}/slurm {}":                              "redsi.local.hcl:20|Declared twice",
		"profile \"near\" {}/profile \"near\" {\n  slurm {\n  }\n}": "redsi.local.hcl:21|No pilots",
		`setup = ["module load cuda/13"]/setup = "module"`:          "redsi.local.hcl:2|Wrong type|setup is a list of lines",
	} {
		old, now, _ := strings.Cut(change, "/")
		if strings.HasPrefix(change, "setup") {
			old, now = `["module load cuda/13"]`, `"module"`
		}
		if !strings.Contains(slurmText, old) {
			t.Fatalf("no %q", old)
		}
		_, ds := local.Parse("redsi.local.hcl", []byte(strings.Replace(slurmText, old, now, 1)), "")
		testkit.ErrSays(t, ds.Err(), strings.Split(want, "|")...)
	}
}
