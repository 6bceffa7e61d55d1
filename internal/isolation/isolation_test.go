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
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/command"
	"github.com/redsi/redsi/internal/isolation"
)

func TestMain(m *testing.M) {
	isolation.Helper()
	os.Exit(m.Run())
}

// boxed runs a shell script in a box; it prints to out.
func boxed(t *testing.T, mode isolation.Mode, script string, reads ...string) (out string, found isolation.Findings, err error) {
	t.Helper()
	dir := t.TempDir()
	for _, sub := range []string{"in", "out", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sh, err := command.Find("sh")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	box := &isolation.Box{Mode: mode, Dir: dir, Program: sh, Reads: reads}
	r := command.Run{Program: sh, Argv: []string{"sh", "-c", script}, Dir: dir, Stdout: &b, ExitCodes: []int{0}, Box: box,
		Env:   map[string]string{"PATH": os.Getenv("PATH"), "HOME": box.Path(""), "TMPDIR": box.Path("tmp"), "TZ": "UTC"},
		Found: func(f isolation.Findings) { found = f }}
	err = r.Do(context.Background())
	return b.String(), found, err
}

// secretFile is one that no program is told of.
func secretFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "undeclared")
	if err := os.WriteFile(path, []byte("undeclared text\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// What a program may do, it does in every mode, and nothing is found.
func TestAllowed(t *testing.T) {
	for _, mode := range []isolation.Mode{isolation.Warn, isolation.Enforce} {
		t.Run(string(mode), func(t *testing.T) {
			out, found, err := boxed(t, mode, `set -e
echo a > out/a; mkdir out/d; mv out/a out/d/b; cat out/d/b; rm out/d/b
echo t > "$TMPDIR/t"; cat "$TMPDIR/t"; awk 'BEGIN { print 1+1 }' < /dev/null
ls /usr/bin > /dev/null; head -c 4 /dev/urandom | wc -c | tr -d ' '
sort < /proc/self/status > /dev/null; pwd -P | sed "s|$HOME|HOME|"`)
			if err != nil || out != "a\nt\n2\n4\nHOME\n" {
				t.Errorf("printed %q, %v", out, err)
			}
			if s := found.Text(9); s != "" {
				t.Errorf("found %s", s)
			}
		})
	}
}

func TestFound(t *testing.T) {
	secret := secretFile(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(secret, link); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(t.TempDir(), "made")
	script := fmt.Sprintf(`cat %s; cat %s; cat /no/such/file; ln -s %s out/l; cat out/l; echo x > %s; cat /etc/hostname /etc/fstab > /dev/null; true`, secret, link, secret, target)

	out, found, err := boxed(t, isolation.Warn, script)
	if err != nil || strings.Count(out, "undeclared text") != 3 {
		t.Errorf("warn: printed %q, %v", out, err)
	}
	want := fmt.Sprintf("read %s (3 times); write %s; read /etc/hostname; read /etc/fstab", secret, target)
	if s := found.Text(9); s != want {
		t.Errorf("warn: found %s, want %s", s, want)
	}
	if _, err := os.Stat(target); err != nil {
		t.Error("warn denies:", err)
	}
	os.Remove(target)

	out, found, err = boxed(t, isolation.Enforce, script)
	if err != nil || strings.Contains(out, "undeclared text") {
		t.Errorf("enforce: printed %q, %v", out, err)
	}
	if s := found.Text(9); s != want {
		t.Errorf("enforce: found %s, want %s", s, want)
	}
	if _, err := os.Stat(target); err == nil {
		t.Error("enforce does not deny")
	}
}

// The network that there is ends in the box.
func TestConnections(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal("these tests need bash:", err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf(`%s -c 'exec 3<>/dev/tcp/127.0.0.1/%s && echo connected' || echo refused`, bash, port)
	for mode, want := range map[isolation.Mode]string{isolation.Warn: "connected\n", isolation.Enforce: "refused\n"} {
		out, found, err := boxed(t, mode, script)
		if err != nil || out != want || found.Text(9) != "connect 127.0.0.1:"+port {
			t.Errorf("%s: printed %q, found %s, %v", mode, out, found.Text(9), err)
		}
		if mode == isolation.Warn {
			<-accepted
		}
	}
	// Its own network is its own affair.
	perl, err := exec.LookPath("perl")
	if err != nil {
		t.Fatal("these tests need perl:", err)
	}
	out, found, err := boxed(t, isolation.Enforce, perl+` -MIO::Socket::INET -e '
my $l = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die "listen: $!";
my $c = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $l->sockport) or die "connect: $!";
print "talked\n"'`)
	if err != nil || out != "talked\n" || found.Text(9) != "" {
		t.Errorf("within: printed %q, found %s, %v", out, found.Text(9), err)
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
		if err != nil || !strings.HasPrefix(out, "undeclared text\n") || found.Text(9) != "write "+folder+"/new" {
			t.Errorf("%s: printed %q, found %s, %v", mode, out, found.Text(9), err)
		}
		if denied := strings.HasSuffix(out, "denied\n"); denied != (mode == isolation.Enforce) {
			t.Errorf("%s: printed %q", mode, out)
		}
	}
	var setup *isolation.SetupError
	for _, bad := range []string{"/no/such/folder", "/"} {
		if _, _, err := boxed(t, isolation.Enforce, "true", bad); !errors.As(err, &setup) || !strings.Contains(err.Error(), "isolation_reads") {
			t.Errorf("%s: %v", bad, err)
		}
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
			if _, _, err := boxed(t, mode, script); err == nil || err.Error() != want {
				t.Errorf("%s, %s: got %v, want %s", mode, script, err, want)
			}
		}
	}
	// A program that does not start says so as without a box.
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := errors.Join(os.WriteFile(plain, []byte("text"), 0o755), os.Mkdir(filepath.Join(dir, "tmp"), 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []isolation.Mode{isolation.Warn, isolation.Enforce} {
		r := command.Run{Program: plain, Argv: []string{"plain"}, Dir: dir, Stdout: &bytes.Buffer{}, Box: &isolation.Box{Mode: mode, Dir: dir, Program: plain}}
		var start *command.StartError
		if err := r.Do(context.Background()); !errors.As(err, &start) || !strings.Contains(err.Error(), "name its interpreter") {
			t.Errorf("%s: %v", mode, err)
		}
	}
}
