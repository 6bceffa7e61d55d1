package secret

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/redsi/redsi/internal/system/testkit"
)

func TestSources(t *testing.T) {
	for _, s := range []string{"env:A", "file:/run/x", "var:token"} {
		testkit.None(t, CheckSource(s), s)
	}
	for _, s := range []string{"", "A", "env:", "env:A=B", "file:x", "file:", "vault:x", "hunter2-hunter2"} {
		if err := CheckSource(s); err == nil || strings.Contains(err.Error(), "hunter") {
			t.Errorf("%s: %v", s, err)
		}
	}
}

func TestValues(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "key")
	for name, text := range map[string]string{"key": "of a file\r\n", "short": "abc", "long": strings.Repeat("x", maxValue+1), "nul": "abcdef\x00"} {
		testkit.None(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for name, value := range map[string]string{"REDSI_TEST_A": "of the environment", "REDSI_VAR_there": "of the worker", "REDSI_TEST_EMPTY": "", "REDSI_TEST_SHORT": "abcde\n"} {
		t.Setenv(name, value)
	}
	f := Finder{Vars: map[string]string{"given": "of the command line"}}
	for source, want := range map[string]string{"env:REDSI_TEST_A": "of the environment", "var:given": "of the command line", "var:there": "of the worker", "file:" + file: "of a file"} {
		testkit.Of(t, want, source)(f.Value(source))
	}
	for source, want := range map[string]string{"env:REDSI_TEST_B": "no environment variable REDSI_TEST_B", "var:x": "set REDSI_VAR_x", "file:" + dir: "not a regular file", "file:" + dir + "/none": "no such file",
		"file:" + dir + "/short": "fewer than 6", "file:" + dir + "/long": "more than 65536", "file:" + dir + "/nul": "NUL", "env:REDSI_TEST_EMPTY": "fewer than 6", "env:REDSI_TEST_SHORT": "fewer than 6"} {
		if v, err := f.Value(source); err == nil || !strings.Contains(err.Error(), want) || v != "" {
			t.Errorf("%s: %q, %v; want %s", source, v, err, want)
		}
	}
	testkit.ErrSays(t, testkit.Err(f.Values(map[string]string{"X": "env:REDSI_TEST_B", "Y": "env:REDSI_TEST_A"})), "secret X")
}

// Values are found wherever a stream is cut.
func TestStreams(t *testing.T) {
	s := Set{"TOKEN": "hunter2-hunter2", "PREFIX": "hunter2", "ENDED": "abc-def\n", "KEY": "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n-----END KEY-----"}
	for in, want := range map[string]string{
		"": "", "nothing": "nothing", "hunter2-hunter2": "[secret TOKEN]", "a hunter2-hunter3 b": "a [secret PREFIX]-hunter3 b",
		"hunthunter2-hunter2hunter": "hunt[secret TOKEN]hunter", "hunter2hunter2-hunter2": "[secret PREFIX][secret TOKEN]",
		"line MIIEvQIBADANBgkqhkiG9w0\n": "line [secret KEY]\n", "-----BEGIN KEY-----\n": "-----BEGIN KEY-----\n", "hunter": "hunter", "hunter2-": "[secret PREFIX]-",
		"token abc-def, \n": "token [secret ENDED], \n",
	} {
		testkit.Is(t, s.Redact(in), want, in)
		var b, g bytes.Buffer
		w := s.Redactor(&b)
		if _, err := io.Copy(struct{ io.Writer }{w}, iotest.OneByteReader(strings.NewReader(in))); err != nil || w.Close() != nil || b.String() != want {
			t.Errorf("byte by byte %q becomes %q, want %q, %v", in, b.String(), want, err)
		}
		w = s.Guard(&g)
		_, err := io.Copy(struct{ io.Writer }{w}, iotest.OneByteReader(strings.NewReader(in)))
		err = errors.Join(err, w.Close())
		var leak *LeakError
		if errors.As(err, &leak) != (in != want) || in == want && g.String() != in {
			t.Errorf("guarded %q is %q, %v", in, g.String(), err)
		}
		for name, v := range s {
			if strings.Contains(g.String(), v) {
				t.Errorf("%s got through: %q", name, g.String())
			}
		}
	}
	testkit.Is(t, (Set)(nil).Redact("x"), "x")
}
