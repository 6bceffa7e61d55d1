//go:build linux

package isolation_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/isolation"
	"github.com/redsi/redsi/internal/system/testkit"
)

// bound is a folder in which in/x is to be the file from.
func bound(t *testing.T) (dir, from string, binds []isolation.Bind) {
	t.Helper()
	dir, from = folder(t), filepath.Join(t.TempDir(), "blob")
	to := filepath.Join(dir, "in", "x")
	testkit.None(t, errors.Join(os.WriteFile(from, []byte("the blob\n"), 0o444), os.WriteFile(to, nil, 0o444)))
	return dir, from, []isolation.Bind{{From: from, To: to}}
}

// mayNot reports an account without the rights of root to which the system gives no namespaces.
func mayNot(err error) bool {
	var refused *isolation.BindError
	var setup *isolation.SetupError
	return os.Geteuid() != 0 && (errors.As(err, &setup) || errors.As(err, &refused) && !errors.Is(err, os.ErrNotExist))
}

var modes = []isolation.Mode{isolation.Off, isolation.Warn, isolation.Enforce}

// spoil is what a program may do to a file, each of which must fail; it prints what did not.
const spoil = `try() { "$@" 2> /dev/null && echo "done: $*"; }
cat in/x
try sh -c 'echo y >> in/x'; try sh -c ': > in/x'; try dd if=/dev/null of=in/x; try dd if=/dev/zero of=in/x count=1 conv=notrunc; try truncate -s 0 in/x
try sh -c 'exec 3< in/x; echo y > /proc/self/fd/3'
try chmod 600 in/x; try touch in/x; try ln in/x out/x; try rm in/x; try mv in/x out/x; echo y > out/y; try mv -f out/y in/x
try sed -i s/the/no/ in/x; try sort -o in/x in/x; try rm -rf in
cp in/x out/copy && chmod 600 out/copy && echo more >> out/copy && cat out/copy`

// TestBinds: a program sees a file in its folder, can do nothing to it, and its folder is free when
// it has ended.
func TestBinds(t *testing.T) {
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			dir, from, binds := bound(t)
			before, err := os.Stat(from)
			testkit.None(t, err)
			out, found, err := ran(t, isolation.Box{Mode: mode, Dir: dir}, "/bin/sh", spoil, binds...)
			if mayNot(err) {
				t.Skip("this account may not mount:", err)
			}
			testkit.None(t, err)
			testkit.Is(t, out, "the blob\nthe blob\nmore\n")
			testkit.Is(t, said(found), "", "found")
			after, err := os.Stat(from)
			if err != nil || after.Mode() != before.Mode() || after.ModTime() != before.ModTime() ||
				after.Sys().(*syscall.Stat_t).Ctim != before.Sys().(*syscall.Stat_t).Ctim {
				t.Errorf("the file was touched: %v, %v", after, err)
			}
			testkit.Is(t, testkit.Text(t, filepath.Join(dir, "in", "x")), "", "outside of the program")
			testkit.None(t, os.RemoveAll(dir))
			testkit.Is(t, testkit.Text(t, from), "the blob\n")
		})
	}
}

// TestBindRefused: where a file cannot be mounted, the program does not begin, and another try without
// it is as if there had been none.
func TestBindRefused(t *testing.T) {
	for _, mode := range modes {
		dir, from, binds := bound(t)
		testkit.None(t, os.Remove(from))
		out, _, err := ran(t, isolation.Box{Mode: mode, Dir: dir}, "/bin/sh", "echo began > out/x", binds...)
		var refused *isolation.BindError
		if mayNot(err) && mode == isolation.Enforce {
			continue
		}
		testkit.That(t, errors.As(err, &refused) && out == "", mode, "printed", out, err)
		testkit.ErrIs(t, testkit.Err(os.Stat(filepath.Join(dir, "out", "x"))), os.ErrNotExist, mode)
		out, _, err = ran(t, isolation.Box{Mode: mode, Dir: dir}, "/bin/sh", "echo began")
		testkit.None(t, err, mode)
		testkit.Is(t, out, "began\n", mode)
	}
}

// boundFolder has this program run one with a bind in that folder, whose file is beside it.
const boundFolder = "REDSI_TEST_BOUND"

func runUntilKilled(dir string) {
	sh, err := command.Find("sh")
	if err == nil {
		err = command.Run{Program: sh, Argv: []string{"sh", "-c", "cat in/x; exec sleep 3600"}, Dir: dir, Stdout: os.Stdout,
			Binds: []isolation.Bind{{From: dir + ".blob", To: filepath.Join(dir, "in", "x")}}}.Do(context.Background())
	}
	fmt.Print("refused: ", err, "\n")
	os.Exit(1)
}

// TestBindsEndWithTheProcess: kill -9 leaves nothing mounted, and the folder can be removed.
func TestBindsEndWithTheProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "step")
	testkit.Write(t, dir+".blob", "the blob\n")
	testkit.Write(t, filepath.Join(dir, "in", "x"), "")
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), boundFolder+"="+dir)
	out, err := cmd.StdoutPipe()
	testkit.None(t, err)
	testkit.None(t, cmd.Start())
	line := make([]byte, 9)
	if _, err := io.ReadFull(out, line); err != nil || string(line) != "the blob\n" {
		rest, _ := io.ReadAll(out)
		t.Skipf("%s%s, %v", line, rest, errors.Join(err, cmd.Wait()))
	}
	testkit.None(t, cmd.Process.Kill())
	testkit.None(t, testkit.Err(io.Copy(io.Discard, out))) // until the program has ended, too
	_ = cmd.Wait()
	if b, err := os.ReadFile("/proc/self/mountinfo"); err != nil || strings.Contains(string(b), dir) {
		t.Errorf("it is mounted here, %v", err)
	}
	testkit.None(t, os.RemoveAll(dir))
	testkit.Is(t, testkit.Text(t, dir+".blob"), "the blob\n")
}

// TestBindsOfAUser does the same with an account that is not root.
func TestBindsOfAUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("this account is not root")
	}
	dir, err := os.MkdirTemp("", "redsi-test-*")
	testkit.None(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	program, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = errors.Join(os.WriteFile(filepath.Join(dir, "test"), program, 0o755), os.Chown(dir, 65534, 65534), os.Chmod(dir, 0o700))
	}
	testkit.None(t, err)
	cmd := exec.Command(filepath.Join(dir, "test"), "-test.run=^TestBinds$|^TestBindRefused$|^TestBindsEndWithTheProcess$", "-test.v")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	testkit.None(t, err, string(out))
	t.Logf("%s", out)
}
