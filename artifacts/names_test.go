package artifacts_test

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
)

func TestRecordPath(t *testing.T) {
	for name, want := range map[string]string{
		"results/" + abc:      "results/" + abc + ".json",
		"runs/2026-11-21_1":   "runs/2026-11-21_1.json",
		"runs/A/b":            "runs/!a/b.json",
		"a.json/b":            "a%2ejson/b.json",
		"a.json":              "a.json.json",
		".git/x":              "%2egit/x.json",
		`step.x["tiny/42"]`:   "step.x%5b%22tiny/42%22%5d.json",
		"pins/é !":            "pins/%c3%a9%20%21.json",
		"checkpoints/k/00012": "checkpoints/k/00012.json",
	} {
		if got := artifacts.RecordPath(name); got != want {
			t.Errorf("RecordPath(%q) = %q, want %q", name, got, want)
		}
		if back, ok := artifacts.RecordName(want); !ok || back != name {
			t.Errorf("RecordName(%q) = %q, %v", want, back, ok)
		}
	}
	for _, path := range []string{"a", "a.txt", "A.json", "a b.json", "%4a.json", "%zz.json", "!.json", "!A.json", ".x.json", "a.json/b.json", "%.json"} {
		if name, ok := artifacts.RecordName(path); ok {
			t.Errorf("RecordName(%q) = %q, but no name has that path", path, name)
		}
	}
}

// FuzzRecordPath checks that a path leads back to its name, and stays one even
// where a file system ignores case.
func FuzzRecordPath(f *testing.F) {
	for _, s := range []string{"results/x", "a.json/b", "Ä!%41", "..", "a//b", ".json"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if artifacts.CheckRecord(name, nil) != nil {
			return
		}
		path := artifacts.RecordPath(name)
		if back, ok := artifacts.RecordName(path); !ok || back != name {
			t.Errorf("%q -> %q -> %q, %v", name, path, back, ok)
		}
		if strings.ToLower(path) != path {
			t.Errorf("%q -> %q has upper case", name, path)
		}
		for seg := range strings.SplitSeq(path, "/") {
			if strings.HasPrefix(seg, ".") || len(seg) > 250 {
				t.Errorf("%q -> %q has segment %q", name, path, seg)
			}
		}
	})
}
