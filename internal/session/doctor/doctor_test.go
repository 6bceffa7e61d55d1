package doctor

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
	"github.com/redsi/redsi/workflows"
)

// TestFolders: a store that can be read and written is left as it was, and what cannot be
// used fails with what to do.
func TestFolders(t *testing.T) {
	folder := t.TempDir()
	s, err := dir.Open(folder)
	errtest.None(t, err)
	if f := Store(t.Context(), folder, artifacts.Alone(s), nil); !strings.Contains(f.Note, "can be read and written") {
		t.Errorf("%+v", f)
	}
	for _, err := range s.Records.List(t.Context(), "") {
		t.Errorf("something was left: %v", err)
	}
	if f := Store(t.Context(), folder, artifacts.Alone(s), errors.New("no such bucket")); f.level() != Fail || f.Note != "no such bucket" || f.Do == "" {
		t.Errorf("%+v", f)
	}
	file := filepath.Join(folder, "file")
	filetest.Write(t, file, "")
	if f := State(filepath.Join(file, "state")); f.level() != Fail || !strings.Contains(f.Do, "--state") {
		t.Errorf("%+v", f)
	}
	if f := Store(t.Context(), "mem:", artifacts.Alone(mem.New()), nil); f.level() != OK {
		t.Errorf("%+v", f)
	}
}

// TestCluster: a cluster without workers of a queue is a warning, one that refuses a failure.
func TestCluster(t *testing.T) {
	for name, c := range map[string]struct {
		dialed, asked error
		want          string // levels
	}{
		"no answer": {errors.New("refused"), nil, "fail"},
		"no access": {nil, errors.New("denied"), "fail"},
		"one queue": {nil, nil, "ok ok warn"},
	} {
		polled := func(queue string) (bool, error) { return queue == workflows.TaskQueue, c.asked }
		found := Cluster("127.0.0.1:7233, namespace default", c.dialed, polled, func(queue string) string { return "redsi worker --queue " + queue })
		var levels []string
		failed := Leveled(found)
		for _, f := range found {
			levels = append(levels, f.Level)
		}
		if got := strings.Join(levels, " "); got != c.want || (failed > 0) != (c.want == "fail") {
			t.Errorf("%s: %s, %+v", name, got, found)
		}
	}
	if f := PayloadKey("keys", nil, fmt.Errorf("it is readable by others")); f.level() != Fail {
		t.Errorf("%+v", f)
	}
}
