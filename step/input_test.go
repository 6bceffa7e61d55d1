package step

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
)

// TestInputIsValidated: a task's inputs come from a queue, and are what a step could
// have left or an error.
func TestInputIsValidated(t *testing.T) {
	d := artifacts.Sum([]byte("x"))
	tree, err := artifacts.Tree("files", []artifacts.File{{Name: "a/b", Digest: d, Size: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []artifacts.Artifact{{Type: "file", Digest: d, Size: 1}, {Digest: d}, tree} {
		b, err := json.Marshal(In(a))
		if err != nil {
			t.Fatal(err)
		}
		var in Input
		if err := json.Unmarshal(b, &in); err != nil || in.Artifact == nil || !in.Artifact.Equal(a) {
			t.Errorf("%s gives %+v, %v", b, in, err)
		}
	}
	escaped := tree
	escaped.Files = []artifacts.File{{Name: "../../b", Digest: d, Size: 1}}
	for _, a := range []artifacts.Artifact{{}, {Digest: d, Size: -1}, {Type: "a\x1b[2J", Digest: d}, escaped, {Digest: d, Files: tree.Files}} {
		b, err := json.Marshal(In(a))
		if err != nil {
			t.Fatal(err)
		}
		var in Input
		if err := json.Unmarshal(b, &in); err == nil || !strings.Contains(err.Error(), "an input of a task") {
			t.Errorf("%s gives %+v, %v", b, in, err)
		}
	}
}
