package stepio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

func readCheckpoint(t *testing.T, c *Checkpoints, f artifacts.File) string {
	t.Helper()
	r, err := c.Open(t.Context(), f)
	testkit.None(t, err)
	b, err := io.ReadAll(r)
	testkit.None(t, err)
	return string(b)
}

func saveCheckpoint(t *testing.T, c *Checkpoints, n int64, name, text string) artifacts.File {
	t.Helper()
	f, err := c.Put(t.Context(), name, strings.NewReader(text))
	if err == nil {
		err = c.Save(t.Context(), n, map[string]artifacts.File{name: f})
	}
	testkit.None(t, err)
	return f
}

// TestForgedCheckpoint: the names of a checkpoint's files are whatever a writer of
// the store puts there.
func TestForgedCheckpoint(t *testing.T) {
	s := mem.New()
	c := &Checkpoints{records: s.Records, blobs: s.Blobs, key: artifacts.Sum([]byte("key"))}
	f := saveCheckpoint(t, c, 7, "state", "seven")
	for _, record := range []string{
		`{"../../x":{"name":"../../x","digest":"%s","size":1}}`, `{"/etc/x":{"name":"/etc/x","digest":"%s","size":1}}`,
		`{"a":{"name":"b","digest":"%s","size":1}}`, `{"a":{"name":"a","digest":"%s","size":-1}}`,
		`{"a":{"name":"a","digest":"%s","size":1},"a/b":{"name":"a/b","digest":"%[1]s","size":1}}`, `{}%.0s`, `[]%.0s`, `{%.0s`,
	} {
		err := s.Records.Put(context.Background(), artifacts.CheckpointName(c.key, 8), fmt.Appendf(nil, record, f.Digest))
		testkit.None(t, err)
		passed := map[string]int64{}
		c.count = func(what string, n int64) { passed[what] += n }
		testkit.Is(t, latest(t, c), "7 seven", record)
		testkit.Is(t, passed["checkpoints_passed_over"], 1, record)
	}
}

// latest is the number of the newest checkpoint that is of use and the text of its
// state; "" if there is none. Those with one of the unfit texts are not.
func latest(t *testing.T, c *Checkpoints, unfit ...string) (used string) {
	t.Helper()
	ok, err := c.Latest(t.Context(), func(n int64, files map[string]artifacts.File) error {
		text := readCheckpoint(t, c, files["state"])
		if slices.Contains(unfit, text) {
			return fmt.Errorf("checkpoint %d: %w", n, step.Unfit(errors.New("it is of another step")))
		}
		used = fmt.Sprint(n, " ", text)
		return nil
	})
	testkit.None(t, err)
	testkit.Is(t, ok, used != "", used)
	return used
}

// TestDamagedCheckpoint: the newest checkpoint that can be read is used, or none;
// those that are passed over are counted.
func TestDamagedCheckpoint(t *testing.T) {
	s, err := dir.Open(t.TempDir())
	testkit.None(t, err)
	passed := map[string]int64{}
	c := &Checkpoints{records: s.Records, blobs: s.Blobs, key: artifacts.Sum([]byte("key")), count: func(what string, n int64) { passed[what] += n }}
	one := saveCheckpoint(t, c, 1, "state", "one")
	two := saveCheckpoint(t, c, 2, "state", "two")
	damage := func(f artifacts.File) {
		path, ok := s.Blobs.(artifacts.Local).LocalPath(f.Digest)
		if !ok {
			t.Fatal("no such blob")
		}
		testkit.None(t, os.Chmod(path, 0o644))
		testkit.Write(t, path, "redsi checkpoint "+c.key.Hex()+"\nbad")
	}
	wants := func(want string, counted int64) {
		t.Helper()
		clear(passed)
		testkit.Is(t, latest(t, c), want)
		testkit.Is(t, passed["checkpoints_passed_over"], counted, "passed over")
	}
	wants("2 two", 0)
	damage(two)
	wants("1 one", 1)
	damage(one)
	wants("", 2)
	testkit.None(t, s.Records.Put(t.Context(), artifacts.CheckpointName(c.key, 3), []byte("no record")))
	wants("", 3)
}

// TestUnfitCheckpoint: what the step finds unfit is passed over too, and does not take
// the place of the checkpoints that it makes after it.
func TestUnfitCheckpoint(t *testing.T) {
	s := mem.New()
	var passed int64
	c := &Checkpoints{records: s.Records, blobs: s.Blobs, key: artifacts.Sum([]byte("key")), count: func(_ string, n int64) { passed += n }}
	saveCheckpoint(t, c, 8, "state", "eight")
	saveCheckpoint(t, c, 9, "state", "nine")
	testkit.Is(t, latest(t, c, "nine"), "8 eight")
	testkit.Is(t, passed, 1, "passed over")
	c.useless, passed = nil, 0
	testkit.Is(t, latest(t, c, "nine", "eight"), "")
	testkit.Is(t, passed, 2, "passed over")
	for n := int64(1); n <= 8; n++ {
		saveCheckpoint(t, c, n, "state", fmt.Sprint(n))
		testkit.Is(t, latest(t, &Checkpoints{records: s.Records, blobs: s.Blobs, key: c.key}), fmt.Sprint(n, " ", n))
	}
	kept := 0
	for _, err := range s.Records.List(t.Context(), artifacts.CheckpointPrefix(c.key)) {
		testkit.None(t, err)
		kept++
	}
	testkit.Is(t, kept, 2, "checkpoints are kept")
	broken := errors.New("the store is away")
	if ok, err := c.Latest(t.Context(), func(int64, map[string]artifacts.File) error { return broken }); ok || !errors.Is(err, broken) {
		t.Errorf("an error that is not the checkpoint's: %v, %v", ok, err)
	}
}

// TestStatesFurtherThanAsked: of what a trajectory has kept, a state that is further than a
// run goes is neither used nor said nor removed.
func TestStatesFurtherThanAsked(t *testing.T) {
	s := mem.New()
	c := &Checkpoints{records: s.Records, blobs: s.Blobs, key: artifacts.Sum([]byte("trajectory"))}
	saveCheckpoint(t, c, 10, "state", "ten")
	saveCheckpoint(t, c, 50, "state", "fifty")
	for most, want := range map[int64]string{60: "50 fifty", 50: "50 fifty", 49: "10 ten", 10: "10 ten", 9: ""} {
		c.most = most
		c.count = func(what string, n int64) { t.Errorf("at most %d: %d %s", most, n, what) }
		testkit.Is(t, latest(t, c), want, "at most", most)
	}
	c.most = 0
	var seen []int64
	ok, err := c.Latest(t.Context(), func(n int64, _ map[string]artifacts.File) error {
		if seen = append(seen, n); n == 50 {
			return fmt.Errorf("state %d: %w", n, step.Beyond(errors.New("it is further")))
		}
		return nil
	})
	testkit.That(t, ok && err == nil && slices.Equal(seen, []int64{50, 10}), seen, ok, err)
	saveCheckpoint(t, c, 30, "state", "thirty")
	testkit.Is(t, latest(t, c), "50 fifty", "the furthest")
	c.most = 40
	c.count = nil
	testkit.Is(t, latest(t, c), "30 thirty", "at most 40")
}
