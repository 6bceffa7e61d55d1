//go:build linux

package isolation_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/isolation"
	"github.com/redsi/redsi/internal/system/testkit"
)

func TestMain(m *testing.M) {
	isolation.Helper()
	if dir := os.Getenv(boundFolder); dir != "" {
		runUntilKilled(dir)
	}
	os.Exit(m.Run())
}

func said(f isolation.Findings) string {
	s, _ := f.Text(9)
	return s
}

// folder is that of a step.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, sub := range []string{"in", "out", "tmp"} {
		testkit.None(t, os.Mkdir(filepath.Join(dir, sub), 0o755))
	}
	return dir
}

// boxed runs a shell script in a box; it prints to out.
func boxed(t *testing.T, mode isolation.Mode, script string, reads ...string) (out string, found isolation.Findings, err error) {
	t.Helper()
	return ran(t, isolation.Box{Mode: mode, Dir: folder(t), Reads: reads}, "/bin/sh", script)
}

// ran is boxed in a given box by a given shell, with binds.
func ran(t *testing.T, box isolation.Box, sh, script string, binds ...isolation.Bind) (out string, found isolation.Findings, err error) {
	t.Helper()
	var b bytes.Buffer
	r := command.Run{Program: sh, Argv: []string{"sh", "-c", script}, Dir: box.Dir, Stdout: &b, ExitCodes: []int{0}, Binds: binds, Kills: func() int64 { return 0 },
		Env:   map[string]string{"PATH": os.Getenv("PATH"), "HOME": box.Path(""), "TMPDIR": box.Path("tmp"), "TZ": "UTC"},
		Found: func(f isolation.Findings) { found = f }}
	if box.Program = sh; box.Mode != isolation.Off {
		r.Box = &box
	}
	err = r.Do(context.Background())
	return b.String(), found, err
}

// secretFile is one that no program is told of.
func secretFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "undeclared")
	testkit.Write(t, path, "undeclared text\n")
	return path
}

// What a program may do, it does in every mode, and nothing is found.
func TestAllowed(t *testing.T) {
	for _, mode := range []isolation.Mode{isolation.Warn, isolation.Enforce} {
		t.Run(string(mode), func(t *testing.T) {
			out, found, err := boxed(t, mode, `set -e
echo a > out/a; mkdir out/d; mv out/a out/d/b; cat out/d/b; rm out/d/b
echo t > "$TMPDIR/t"; cat "$TMPDIR/t"; awk 'BEGIN { print 1+1 }' < /dev/null
ls /usr/bin > /dev/null; for f in /sys/fs/cgroup/cpu.max /sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/memory.max; do cat $f > /dev/null 2>&1 || true; done
head -c 4 /dev/urandom | wc -c | tr -d ' '
sort < /proc/self/status > /dev/null; pwd -P | sed "s|$HOME|HOME|"`)
			testkit.None(t, err)
			testkit.Is(t, out, "a\nt\n2\n4\nHOME\n")
			testkit.Is(t, said(found), "", "found")
		})
	}
}

func TestFound(t *testing.T) {
	secret := secretFile(t)
	link := filepath.Join(t.TempDir(), "link")
	testkit.None(t, os.Symlink(secret, link))
	target := filepath.Join(t.TempDir(), "made")
	script := fmt.Sprintf(`cat %s; cat %s; cat /proc/self/root%[1]s; cat /no/such/file; ln -s %[1]s out/l; cat out/l; cat "/proc/self/cwd/$(pwd -P | sed 's|/[^/]*|../|g')%[1]s"; echo x > %[4]s; cat /etc/hostname /etc/fstab > /dev/null; true`, secret, link, "", target)

	out, found, err := boxed(t, isolation.Warn, script)
	testkit.None(t, err)
	testkit.Is(t, strings.Count(out, "undeclared text"), 5, out)
	want := fmt.Sprintf("read %s (5 times); write %s; read /etc/hostname; read /etc/fstab", secret, target)
	testkit.Is(t, said(found), want, "warn: found")
	testkit.None(t, testkit.Err(os.Stat(target)), "warn denies")
	os.Remove(target)

	out, found, err = boxed(t, isolation.Enforce, script)
	if err != nil || strings.Contains(out, "undeclared text") {
		t.Errorf("enforce: printed %q, %v", out, err)
	}
	want = strings.Replace(want, "5 times", "4 times", 1) // the folder that it works in is elsewhere for others
	testkit.Is(t, said(found), want, "enforce: found")
	testkit.ErrIs(t, testkit.Err(os.Stat(target)), os.ErrNotExist, "enforce does not deny")
}

// The network that there is ends in the box.
func TestConnections(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.None(t, err)
	defer l.Close()
	accepted := make(chan struct{}, 10)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
			accepted <- struct{}{}
		}
	}()
	bash, err := exec.LookPath("bash")
	testkit.None(t, err, "these tests need bash")
	_, port, err := net.SplitHostPort(l.Addr().String())
	testkit.None(t, err)
	script := fmt.Sprintf(`%s -c 'exec 3<>/dev/tcp/127.0.0.1/%s && echo connected' || echo refused`, bash, port)
	for mode, want := range map[isolation.Mode]string{isolation.Warn: "connected\n", isolation.Enforce: "refused\n"} {
		out, found, err := boxed(t, mode, script)
		if err != nil || out != want || said(found) != "connect 127.0.0.1:"+port {
			t.Errorf("%s: printed %q, found %s, %v", mode, out, said(found), err)
		}
		if mode == isolation.Warn {
			<-accepted
		}
	}
	// Its own network is its own affair.
	perl, err := exec.LookPath("perl")
	testkit.None(t, err, "these tests need perl")
	out, found, err := boxed(t, isolation.Enforce, perl+` -MIO::Socket::INET -e '
my $l = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die "listen: $!";
my $c = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $l->sockport) or die "connect: $!";
print "talked\n"'`)
	if err != nil || out != "talked\n" || said(found) != "" {
		t.Errorf("within: printed %q, found %s, %v", out, said(found), err)
	}
	if len(accepted) > 0 {
		t.Error("a connection left the box")
	}
}

// What the program sees is the same wherever the folder is.
func TestSamePlace(t *testing.T) {
	const script = `pwd -P; echo $HOME $TMPDIR; hostname; ls /; ls /tmp; id -u; ls /proc | grep -c '^[0-9]'`
	one, _, err := boxed(t, isolation.Enforce, script)
	if err != nil || !strings.HasPrefix(one, isolation.Folder+"\n") {
		t.Fatalf("%q, %v", one, err)
	}
	if two, _, err := boxed(t, isolation.Enforce, script); err != nil || one != two {
		t.Errorf("%q\nand then %q, %v", one, two, err)
	}
}

// More can be allowed, for reading only.
func TestReads(t *testing.T) {
	secret := secretFile(t)
	folder := filepath.Dir(secret)
	for _, mode := range []isolation.Mode{isolation.Warn, isolation.Enforce} {
		out, found, err := boxed(t, mode, "cat "+secret+"; (echo x > "+folder+"/new) 2>/dev/null || echo denied", folder)
		if err != nil || !strings.HasPrefix(out, "undeclared text\n") || said(found) != "write "+folder+"/new" {
			t.Errorf("%s: printed %q, found %s, %v", mode, out, said(found), err)
		}
		testkit.Is(t, strings.HasSuffix(out, "denied\n"), mode == isolation.Enforce, mode, out)
	}
	var setup *isolation.SetupError
	for _, bad := range []string{"/no/such/folder", "/"} {
		if _, _, err := boxed(t, isolation.Enforce, "true", bad); !errors.As(err, &setup) || !strings.Contains(err.Error(), "isolation_reads") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestVirtualEnvironment: of a virtual environment the interpreter starts, and reads its own
// libraries and those of the Python that it was made from, through whatever links; what lies
// beside is outside. It is so too where only isolation_reads names the environment.
func TestVirtualEnvironment(t *testing.T) {
	sh, err := filepath.EvalSymlinks("/bin/sh")
	testkit.None(t, err)
	home := t.TempDir()
	write := func(name, text string) { testkit.Program(t, filepath.Join(home, name), text) }
	write("pythons/3.11/bin/python3.11", testkit.Text(t, sh))
	write("pythons/3.11/lib/python3.11/os.py", "of the base\n")
	write("pythons/3.11/secret", "beside\n")
	write("venv/pyvenv.cfg", "version = 3.11\nhome = "+home+"/current/bin\n")
	write("venv/lib/python3.11/site-packages/numpy/core.py", "of numpy\n")
	for at, to := range map[string]string{"pythons/3.11/bin/python3": "python3.11", "current": "pythons/3.11", "alias": ".", "tool": home + "/venv/bin/python"} {
		testkit.None(t, os.Symlink(to, filepath.Join(home, at)))
	}
	testkit.None(t, errors.Join(os.Mkdir(filepath.Join(home, "venv/bin"), 0o755), os.Symlink(home+"/current/bin/python3", filepath.Join(home, "venv/bin/python"))))
	read := fmt.Sprintf("cat %s/venv/lib/python3.11/site-packages/numpy/core.py %[1]s/current/lib/python3.11/os.py", home)
	for name, c := range map[string]struct {
		program, script string
		reads           []string
	}{
		"the program":                      {home + "/venv/bin/python", read, nil},
		"the program, by a link":           {home + "/alias/venv/bin/python", read, nil},
		"the program, and in what is read": {home + "/alias/venv/bin/python", read, []string{home + "/alias/venv"}},
		"what is read":                     {"/bin/sh", home + "/venv/bin/python -c '" + read + "'", []string{home + "/venv"}},
	} {
		for _, mode := range []isolation.Mode{isolation.Warn, isolation.Enforce} {
			out, found, err := ran(t, isolation.Box{Mode: mode, Dir: folder(t), Reads: c.reads}, c.program, c.script)
			if err != nil || out != "of numpy\nof the base\n" || said(found) != "" {
				t.Errorf("%s, %s: printed %q, found %s, %v", name, mode, out, said(found), err)
			}
		}
	}
	_, found, _ := ran(t, isolation.Box{Mode: isolation.Enforce, Dir: folder(t)}, home+"/venv/bin/python", "cat "+home+"/pythons/3.11/secret")
	testkit.Is(t, said(found), "read "+home+"/pythons/3.11/secret")
}

// TestText: findings are told by folder, what is nobody's library first, and all are in the log.
func TestText(t *testing.T) {
	var f isolation.Findings
	add := func(what, where string) {
		f.List = append(f.List, isolation.Finding{What: what, Where: where, Times: 1})
	}
	for i := range 1500 {
		add("read", fmt.Sprintf("/venv/lib/python3.11/site-packages/pkg%d/mod.py", i%7+i))
	}
	add("read", "/base/lib/python3.11/os.py")
	add("read", "/base/lib/python3.11/json/decoder.py")
	add("read", "/venv/lib/libx.so.1")
	add("read", "/etc/hosts")
	add("read", "/study/hidden.txt")
	add("connect", "192.0.2.7:443")
	for i := range 8 {
		add("read", fmt.Sprintf("/data/%d.csv", i))
	}
	const want = "read /study/hidden.txt; connect 192.0.2.7:443; read 8 files in /data: 0.csv, 1.csv, 2.csv, 3.csv, 4.csv and 3 more; read /etc/hosts; " +
		"read 1500 files in /venv/lib/python3.11/site-packages; read 2 files in /base/lib/python3.11; read /venv/lib/libx.so.1"
	if got, whole := f.Text(20); got != want || whole {
		t.Errorf("%s, whole: %v", got, whole)
	}
	got, _ := f.Text(2)
	testkit.Is(t, got, "read /study/hidden.txt; connect 192.0.2.7:443; and 1512 more in other folders")
	lines := strings.Split(strings.TrimSuffix(f.Lines(), "\n"), "\n")
	if len(lines) != len(f.List) || lines[len(lines)-1] != "  read /study/hidden.txt" || !slices.Contains(lines, "  read /data/7.csv") {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
	f.List = f.List[len(f.List)-9 : len(f.List)-8]
	if got, whole := f.Text(20); got != "connect 192.0.2.7:443" || !whole {
		t.Errorf("%s, whole: %v", got, whole)
	}
}

// How a program ends is told as without a box; what it leaves dies with it.
func TestEnds(t *testing.T) {
	for _, mode := range []isolation.Mode{isolation.Warn, isolation.Enforce} {
		for script, want := range map[string]string{
			"exit 3":                           "sh exited with code 3; it wrote nothing to standard error",
			"echo why >&2; kill -9 $$":         `sh was ended by signal "killed" (out of memory, perhaps); the end of its standard error:` + "\nwhy",
			"sleep 3600 & sleep 3600 & exit 4": "sh exited with code 4; it wrote nothing to standard error",
		} {
			_, _, err := boxed(t, mode, script)
			testkit.Is(t, fmt.Sprint(err), want, mode, script)
		}
	}
	// A program that does not start says so as without a box.
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	testkit.None(t, errors.Join(os.WriteFile(plain, []byte("text"), 0o755), os.Mkdir(filepath.Join(dir, "tmp"), 0o755)))
	for _, mode := range []isolation.Mode{isolation.Warn, isolation.Enforce} {
		r := command.Run{Program: plain, Argv: []string{"plain"}, Dir: dir, Stdout: &bytes.Buffer{}, Box: &isolation.Box{Mode: mode, Dir: dir, Program: plain}}
		var start *command.StartError
		if err := r.Do(context.Background()); !errors.As(err, &start) || !strings.Contains(err.Error(), "name its interpreter") {
			t.Errorf("%s: %v", mode, err)
		}
	}
	// One that is a link says where to.
	script, linked := filepath.Join(dir, "script"), filepath.Join(dir, "linked")
	testkit.None(t, errors.Join(os.WriteFile(script, []byte("#!/no/such/shell\n"), 0o755), os.Symlink("script", linked)))
	for _, box := range []*isolation.Box{nil, {Mode: isolation.Enforce, Dir: dir, Program: linked}} {
		r := command.Run{Program: linked, Argv: []string{"linked"}, Dir: dir, Stdout: &bytes.Buffer{}, Box: box}
		testkit.ErrSays(t, r.Do(context.Background()), "(it is a link to "+script+")")
	}
}
