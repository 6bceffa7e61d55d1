package pipeline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
)

func TestVariableFiles(t *testing.T) {
	src := map[string][]byte{"p.hcl": []byte(`
variable "lr" { default = 1 }
variable "seeds" {
  type    = list(number)
  default = []
}
variable "train" {
  type    = object({ layers = number })
  default = { layers = 1 }
}
output "all" { value = "${var.lr} ${jsonencode(var.seeds)} ${var.train.layers}" }
`)}
	for _, c := range []struct{ name, text, want string }{
		{"v.yaml", "lr: 1e-4\nseeds: [1, 2]\ntrain:\n  layers: 3\n", `0.0001 [1,2] {"layers":3}`},
		{"v.YML", "lr: ~\n", `1 [] {"layers":1}`},
		{"v.yaml", "", `1 [] {"layers":1}`},
		{"v.toml", "lr = 0.1\n[train]\nlayers = 3\n", `0.1 [] {"layers":3}`},
		{"v.yaml", "# x\nlrr: 2\n", "!v.yaml:2:1 Did you mean \"lr\"?"},
		{"v.toml", "lr = 1\n[trian]\nlayers = 3\n", "!v.toml:2:1"},
		{"v.yaml", "lr: 1\ntrain:\n  layers: x\n", "!v.yaml:2:1 does not fit the type of var.train"},
		{"v.yaml", "lr: 1\nseeds: [\n", "!v.yaml:"},
		{"v.yaml", "lr: 1\nlr: 2\n", "!v.yaml:2:1 mapping key \"lr\" already defined at line 1"},
		{"v.yaml", "- lr\n", "!v.yaml:1:1 no variables at its top"},
		{"v.toml", "lr = 1\nlr = 2\n", "!v.toml:2:1"},
		{"v.yaml", "seeds: [1, 007]", "!v.yaml:1:1 write it in quotes"},
		{"v.yaml", "lr: \xff", "!v.yaml:1:1 not UTF-8"},
	} {
		p, ds := pipeline.Load(src, pipeline.Options{Registry: kinds(), VarFiles: []pipeline.File{{Name: c.name, Bytes: []byte(c.text)}}})
		if want, fails := strings.CutPrefix(c.want, "!"); fails {
			place, rest, _ := strings.Cut(want, " ")
			if !ds.HasErrors() || !strings.Contains(ds.Err().Error(), place) || !strings.Contains(ds.Err().Error(), rest) {
				t.Errorf("%s %q: %v, want %s", c.name, c.text, ds.Err(), want)
			}
			continue
		}
		if ds.HasErrors() {
			t.Errorf("%s %q: %v", c.name, c.text, ds.Err())
			continue
		}
		if got := fmt.Sprintf("%s %s %s", p.Vars["lr"], p.Vars["seeds"], p.Vars["train"]); got != c.want {
			t.Errorf("%s %q: %s", c.name, c.text, got)
		}
	}
}
