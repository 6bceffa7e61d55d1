package files

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestPublish: what a step makes is written and kept up to date; what a person changed or added stays, and
// what the step makes no longer goes, as long as it is redsi's.
func TestPublish(t *testing.T) {
	dir := t.TempDir()
	store := mem.New()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	publish := func(files map[string]string) (Published, error) {
		t.Helper()
		var list []artifacts.File
		for _, name := range []string{"a.svg", "b.svg", "b/c.svg", "d.svg", "../x", ".git/config"} {
			text, ok := files[name]
			if !ok {
				continue
			}
			d, n, err := store.Blobs.Put(t.Context(), bytes.NewReader([]byte(text)))
			testkit.None(t, err)
			list = append(list, artifacts.File{Name: name, Digest: d, Size: n})
		}
		var done Published
		err := done.Publish(t.Context(), artifacts.Alone(store), at(".redsi/published/plots.json"), dir, "results/plots", list)
		return done, err
	}
	put := func(name, text string) {
		t.Helper()
		testkit.Write(t, at(name), text)
	}
	put("results/plots/d.svg", "mine")
	put("results/plots/README", "mine")
	for i, c := range []struct {
		change func()
		files  map[string]string
		want   Published
		there  map[string]string // "": nothing
	}{
		{nil, map[string]string{"a.svg": "1", "b/c.svg": "1", "d.svg": "1"}, Published{Files: 2, Written: 2, Kept: []string{at("results/plots/d.svg")}}, map[string]string{"a.svg": "1", "d.svg": "mine", "README": "mine"}},
		{nil, map[string]string{"a.svg": "1", "b/c.svg": "1"}, Published{Files: 2}, map[string]string{"d.svg": "mine"}},
		{nil, map[string]string{"a.svg": "2", "b/c.svg": "1"}, Published{Files: 2, Written: 1}, map[string]string{"a.svg": "2"}},
		{func() { put("results/plots/a.svg", "edited") }, map[string]string{"a.svg": "3", "b/c.svg": "1"}, Published{Files: 1, Kept: []string{at("results/plots/a.svg")}}, map[string]string{"a.svg": "edited"}},
		{func() { put("results/plots/a.svg", "3") }, map[string]string{"a.svg": "3", "b/c.svg": "1"}, Published{Files: 2}, nil},
		{func() { put("results/plots/a.svg", "edited") }, map[string]string{"d.svg": "mine"}, Published{Files: 1, Removed: 1, Kept: []string{at("results/plots/a.svg")}}, map[string]string{"a.svg": "edited", "b": "", "README": "mine"}},
		{func() { os.Remove(at("results/plots/d.svg")) }, map[string]string{"d.svg": "new"}, Published{Files: 1, Written: 1}, map[string]string{"d.svg": "new", "a.svg": "edited"}},
	} {
		if c.change != nil {
			c.change()
		}
		got, err := publish(c.files)
		testkit.That(t, err == nil && reflect.DeepEqual(got, c.want), i, got, err, "want", c.want)
		for name, want := range c.there {
			b, err := os.ReadFile(at("results/plots/" + name))
			testkit.Is(t, string(b), want, i, name)
			testkit.Is(t, os.IsNotExist(err), want == "", i, name)
		}
	}
	for _, name := range []string{"../x", ".git/config"} {
		testkit.Some(t, testkit.Err(publish(map[string]string{"a.svg": "4", name: "x"})), name)
	}
	outside := t.TempDir()
	testkit.None(t, os.Symlink(outside, at("results/plots/b.svg")))
	if got, err := publish(map[string]string{"b.svg": "6"}); err != nil || len(got.Kept) != 1 {
		t.Errorf("in place of a link: %+v, %v", got, err)
	}
	testkit.None(t, os.RemoveAll(at("results")))
	testkit.None(t, os.Symlink(outside, at("results")))
	testkit.ErrSays(t, testkit.Err(publish(map[string]string{"a.svg": "5"})), "results/plots/a.svg: ")
	if list, err := os.ReadDir(outside); err != nil || len(list) > 0 {
		t.Errorf("outside: %v, %v", list, err)
	}
}
