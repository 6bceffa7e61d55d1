package local_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/host/capacity"
	"github.com/redsi/redsi/internal/host/slurm"
	"github.com/redsi/redsi/internal/pipeline/local"
	"github.com/redsi/redsi/internal/system/errtest"
)

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
		errtest.None(t, ds.Err())
		if l.Slurm == nil || !reflect.DeepEqual(*l.Slurm, want) {
			t.Errorf("%q: %+v, want %+v", profile, l.Slurm, want)
		}
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
		errtest.Says(t, ds.Err(), strings.Split(want, "|")...)
	}
}
