package saved

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// preview is one of steps, whose keys are those of their configurations; "": not known yet.
func preview(configs map[string]string) *plan.Preview {
	v := &plan.Preview{Plan: &plan.Plan{}}
	for _, address := range slices.Sorted(maps.Keys(configs)) {
		config := configs[address]
		it := plan.Item{Outcome: plan.Maybe}
		if config != "" {
			it = plan.Item{Outcome: plan.Run, Preimage: []byte(`{"config":` + config + `}`)}
			it.Key = artifacts.KeyOf(it.Preimage)
		}
		v.Plan.Steps = append(v.Plan.Steps, plan.Step{Address: address, Task: step.Task{Kind: "command", Config: []byte(`{}`)}})
		v.Items = append(v.Items, it)
	}
	return v
}

// TestStore: a saved plan has the store's address so that it is the same one from any folder.
func TestStore(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	testkit.None(t, err)
	for given, want := range map[string]string{"store": filepath.Join(here, "store"), "/x": "/x", "file:/x": "file:/x", "s3://x": "s3://x"} {
		testkit.None(t, Save(&session.Session{File: "p.hcl", StoreURL: given}, preview(nil), "p.plan"))
		if p, err := Read("p.plan"); err != nil || p.Store != want {
			t.Errorf("%s is %s, %v; want %s", given, p.Store, err, want)
		}
	}
}

// TestDrifts: a saved plan names what has changed, is new or gone since; its file has no sensitive variable.
func TestDrifts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.plan")
	se := &session.Session{File: "p.hcl", Vars: []string{"scale=toy", "token=abc"}, Secrets: map[string]string{"token": "abc"}, StoreURL: "mem://x"}
	testkit.None(t, Save(se, preview(map[string]string{"step.a": `{"x":1}`, "step.b": `{"x":2}`, "step.c": ""}), path))
	p, err := Read(path)
	testkit.None(t, err)
	testkit.That(t, slices.Equal(p.Vars, []string{"scale=toy"}) && p.Name == path && p.Store == "mem://x", p)
	err = p.Refuse(preview(map[string]string{"step.b": `{"x":3}`, "step.c": "", "step.d": `{"x":1}`}))
	drifted, ok := errors.AsType[*Drifted](err)
	if !ok || !strings.HasPrefix(err.Error(), "3 steps no longer as planned in "+path) {
		t.Fatal(err)
	}
	said := lists.Map(drifted.Drifts, func(d Drift) string { return d.Address + " " + d.What })
	testkit.Deep(t, said, []string{"step.a gone", "step.b changed", "step.d new"})
	if c := drifted.Drifts[1].Changes; len(c) != 1 || c[0].Path != "config.x" {
		t.Errorf("%v", c)
	}
	testkit.ErrSays(t, testkit.Err(Read(filepath.Join("..", "saved", "saved.go"))), "is not a plan saved by")
}
