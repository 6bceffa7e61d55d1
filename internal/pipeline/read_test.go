package pipeline_test

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
)

// Variables: --var wins over --var-file, that over the environment, that over
// the default.
func TestPrecedence(t *testing.T) {
	src := map[string][]byte{"p.hcl": []byte("variable \"x\" { default = \"default\" }\nstep \"download\" \"a\" {\n  url = var.x\n}\n")}
	o := pipeline.Options{Registry: kinds()}
	check := func(want string) {
		t.Helper()
		p, ds := pipeline.Load(src, o)
		if ds.HasErrors() {
			t.Fatal(ds.Err())
		}
		if got := string(p.Vars["x"]); got != `"`+want+`"` || p.Inputs()["x"] != want {
			t.Errorf("x is %s, as an argument %s, want %s", got, p.Inputs()["x"], want)
		}
	}
	check("default")
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
}

// file() reads only what it is given when there is no file system.
func TestFileFromSources(t *testing.T) {
	src := map[string][]byte{"dir/p.hcl": []byte("step \"download\" \"a\" {\n  url = file(\"x.txt\")\n}\n"), "dir/x.txt": []byte("x"), "dir/y.txt": []byte("y")}
	p, ds := pipeline.Load(src, pipeline.Options{Registry: kinds()})
	if ds.HasErrors() {
		t.Fatal(ds.Err())
	}
	if got := strings.Join(sortedNames(p.Sources), " "); got != "dir/p.hcl dir/x.txt" {
		t.Errorf("sources %s", got)
	}
	src["dir/x.txt"] = []byte("\xff")
	for name, ds := range map[string]pipeline.Diagnostics{
		"bytes":   second(pipeline.Load(src, pipeline.Options{Registry: kinds()})),
		"nothing": second(pipeline.Load(map[string][]byte{"p.hcl": src["dir/p.hcl"]}, pipeline.Options{Registry: kinds()})),
	} {
		if !ds.HasErrors() {
			t.Errorf("%s: it loads", name)
		}
	}
}

func second(_ *pipeline.Pipeline, ds pipeline.Diagnostics) pipeline.Diagnostics { return ds }
