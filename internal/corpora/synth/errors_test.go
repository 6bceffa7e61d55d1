package synth

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func TestValidate(t *testing.T) {
	testkit.None(t, Default().Validate())
	for _, test := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Pages = 0 }, "pages is 0; it must be between 1 and 500000"},
		{func(c *Config) { c.TrainQuestions = 0 }, "train_questions is 0"},
		{func(c *Config) { c.DevQuestions = -1 }, "dev_questions is -1"},
		{func(c *Config) { c.TrainShards = 0 }, "train_shards is 0"},
		{func(c *Config) { c.StubParts = 0; c.StubMembers = 0 }, "stub_members is 0"},
		{func(c *Config) { c.Pages = maxPages; c.StubRevisionsPerPage = 1000 }, "revision ids"},
	} {
		cfg := Default()
		test.change(&cfg)
		_, err := Generate(cfg, nil, nil)
		testkit.ErrSays(t, err, test.want)
	}
}

// failing fails at a write or at its close.
type failing struct {
	after  int
	closed int
	close  error
}

var errDisk = errors.New("disk full")

func (f *failing) Write(p []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, errDisk
	}
	return len(p), nil
}

func (f *failing) Close() error { f.closed++; return f.close }

func TestFailures(t *testing.T) {
	for name, first := range map[string]failing{
		"write": {after: 0}, "later write": {after: 3}, "close": {after: 1000, close: errDisk},
	} {
		var files []*failing
		_, err := Generate(Default(), func(string) (io.WriteCloser, error) {
			f := first
			files = append(files, &f)
			return &f, nil
		}, nil)
		testkit.That(t, errors.Is(err, errDisk) && strings.Contains(err.Error(), ".gz: "), name, "got", err)
		for i, f := range files {
			testkit.Is(t, f.closed, 1, name, i)
		}
	}
	_, err := Generate(Default(), func(name string) (io.WriteCloser, error) { return nil, errDisk }, nil)
	testkit.ErrIs(t, err, errDisk, "create")
}
