//go:build linux

package general

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/stepio"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// TestUnbound: where nothing can be mounted, and of more files than are mounted, a program gets copies,
// and its standard input from the beginning.
func TestUnbound(t *testing.T) {
	root := t.TempDir()
	s := testkit.Value(dir.Open(filepath.Join(root, "store")))(t)
	x := step.NewIO(t.Context(), &Command, &stepio.Host{Store: artifacts.Alone(s), CacheDir: filepath.Join(root, "cache")}, slog.New(slog.DiscardHandler), nil)
	var files []artifacts.File
	for i := range 3 {
		b := bytes.Repeat([]byte{byte('a' + i)}, local.Large+i)
		d := testkit.Value(artifacts.PutBytes(t.Context(), s.Blobs, b))(t)
		files = append(files, artifacts.File{Name: fmt.Sprintf("sub/%d", i), Digest: d, Size: int64(len(b))})
	}
	tree := testkit.Value(artifacts.Tree("files", files))(t)
	one := artifacts.Artifact{Type: "file", Digest: files[2].Digest, Size: files[2].Size}
	var c commandConfig
	c.Inputs = map[string]step.Input{"t": {Artifact: &tree}}
	folder := filepath.Join(root, "step")
	in := &inputs{x: x, mount: true}
	testkit.None(t, stageCommand(in, c, folder))
	binds, err := in.binds()
	if err != nil || len(binds) != 3 || !strings.HasSuffix(binds[0].To, "/2") {
		t.Fatalf("%v, %v: want the largest first", binds, err)
	}
	for i := range binds {
		if b, err := os.ReadFile(binds[i].To); !errors.Is(err, syscall.ENXIO) {
			t.Errorf("who does not see what is mounted reads %d bytes, %v", len(b), err)
		}
		binds[i].From += ".gone"
	}
	sh := testkit.Value(command.Find("sh"))(t)
	var out bytes.Buffer
	run := command.Run{Program: sh, Argv: []string{"sh", "-c", "cat in/t/sub/0 in/t/sub/1 in/t/sub/2 | wc -c; wc -c; ls -l in/t/sub | grep -c -- -r--r--r--; rm in/t/sub/0"},
		Dir: folder, Stdout: &out, ExitCodes: []int{0}, Env: map[string]string{"PATH": os.Getenv("PATH")}, Binds: binds}
	testkit.None(t, in.run(context.Background(), run, step.Input{Artifact: &one}))
	if got, want := strings.Fields(out.String()), fmt.Sprint([]int{3*local.Large + 3, local.Large + 2, 3}); fmt.Sprint(got) != want {
		t.Errorf("printed %s, want %s", got, want)
	}
	if note := x.Notes(nil)[step.NotePrefix+"large inputs"]; !strings.HasPrefix(note, "copied: ") {
		t.Errorf("noted %q", note)
	}
	testkit.None(t, in.unchanged())
}

// TestReadElsewhere: a container sees no mounts of the program that starts it.
func TestReadElsewhere(t *testing.T) {
	for text, want := range map[string]bool{"docker run -v $PWD:/w x": true, "/usr/bin/podman": true, "exec sudo -u x wc": true,
		"wc -l in/x": false, "python fit_docker.py": false, "result = sum(x)": false} {
		for _, c := range []commandConfig{{Script: text}, {Argv: []string{"sh", "-c", text}}, {Files: map[string]string{"f": text}}} {
			testkit.Is(t, c.readElsewhere(), want, text)
		}
	}
}
