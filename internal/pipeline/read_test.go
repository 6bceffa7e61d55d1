package pipeline_test

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/errtest"
)

// Variables: --var wins over --var-file, that over the environment, that over redsi.local.hcl, that over
// the default.
func TestPrecedence(t *testing.T) {
	src := map[string][]byte{"p.hcl": []byte("variable \"x\" { default = \"default\" }\nstep \"download\" \"a\" {\n  url = var.x\n}\n")}
	o := pipeline.Options{Registry: kinds()}
	check := func(want string) {
		t.Helper()
		p, ds := pipeline.Load(src, o)
		errtest.None(t, ds.Err())
		if got := string(p.Vars["x"]); got != `"`+want+`"` || p.Inputs()["x"] != want {
			t.Errorf("x is %s, as an argument %s, want %s", got, p.Inputs()["x"], want)
		}
		if (len(p.Local) == 1) != (want == "local") {
			t.Errorf("%s: of redsi.local.hcl are %v", want, p.Local)
		}
	}
	check("default")
	o.Local = []pipeline.File{{Name: "redsi.local.hcl", Bytes: []byte(`x = "local"`)}}
	check("local")
	o.Env = []string{"REDSI_VAR_x=env", "REDSI_VAR_y=other program's", "x=1"}
	check("env")
	o.VarFiles = []pipeline.File{{Name: "1.hcl", Bytes: []byte(`x = "first"`)}}
	check("first")
	o.VarFiles = append(o.VarFiles, pipeline.File{Name: "2.json", Bytes: []byte(`{"x": "second"}`)})
	check("second")
	o.VarFiles = append(o.VarFiles, pipeline.File{Name: "3.hcl", Bytes: []byte(`x = null`)})
	check("default")
	o.Vars = map[string]string{"x": "argument"}
	check("argument")
	o = pipeline.Options{Registry: kinds(), Local: []pipeline.File{{Name: "redsi.local.hcl", Bytes: []byte("\n  y = 1")}}}
	if _, ds := pipeline.Load(src, o); !ds.HasErrors() || !strings.Contains(ds.Err().Error(), "redsi.local.hcl:2") {
		t.Error(ds.Err())
	}
}

// file() reads only what it is given when there is no file system.
func TestFileFromSources(t *testing.T) {
	src := map[string][]byte{"dir/p.hcl": []byte("step \"download\" \"a\" {\n  url = file(\"x.txt\")\n}\n"), "dir/x.txt": []byte("x"), "dir/y.txt": []byte("y")}
	p, ds := pipeline.Load(src, pipeline.Options{Registry: kinds()})
	errtest.None(t, ds.Err())
	if got := strings.Join(syntax.Keys(p.Sources), " "); got != "dir/p.hcl dir/x.txt" {
		t.Errorf("sources %s", got)
	}
	src["dir/x.txt"] = []byte("\xff")
	for name, src := range map[string]map[string][]byte{"bytes": src, "nothing": {"p.hcl": src["dir/p.hcl"]}} {
		if p, _ := pipeline.Load(src, pipeline.Options{Registry: kinds()}); p != nil {
			t.Errorf("%s: it loads", name)
		}
	}
}
