package cli

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/filetest"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/step"
)

// Where the results of a pipeline are under keys of another format, `redsi plan` says so.
func TestPlanOfOtherKeyFormat(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "pipelines.hcl")
	filetest.Write(t, file, "step \"command\" \"x\" {\n  argv = [\"sh\"]\n  outputs = [\"o\"]\n}\n")
	state := filepath.Join(folder, ".redsi")
	store, err := dir.Open(filepath.Join(state, "store"))
	errtest.None(t, err)
	key := artifacts.Sum([]byte("a key of another format"))
	body := fmt.Appendf(nil, `{"format":%q,"key":%q,"preimage":{"format":"redsi-key/9"},"outputs":{},"finished":"2026-01-01T00:00:00Z","origin":{},"took_s":1`, artifacts.ResultFormat, key)
	errtest.None(t, store.Records.Create(t.Context(), artifacts.ResultName(key), fmt.Appendf(body, `,"seal":%q}`, artifacts.Sum(body))))
	rec := runs.Record{RunID: "20260101T000000Z-00000000", Pipeline: filepath.Base(file),
		Steps: []runs.Step{{Address: "step.command.x", Key: key, Outcome: runs.Ran}}}
	errtest.None(t, runs.Write(t.Context(), store, rec))
	var out, errw bytes.Buffer
	if code := execute(t.Context(), kinds.Registry(), []string{"plan", "-f", file, "--state", state}, &out, &errw, Paper{}); code != fault.CodeOK {
		t.Fatalf("exit %d: %s", code, &errw)
	}
	for _, want := range []string{"keys moved", "redsi-key/9", step.KeyFormat} {
		if !strings.Contains(errw.String(), want) {
			t.Errorf("it does not say %q: %s%s", want, &out, &errw)
		}
	}
}
