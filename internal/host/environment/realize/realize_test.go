package realize_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/host/environment/indextest"
	"github.com/redsi/redsi/internal/host/environment/realize"
	"github.com/redsi/redsi/internal/system/testkit"
)

// making is set in the environment of this program as a process that makes an environment.
const making = "REDSI_TEST_MAKING"

func TestMain(m *testing.M) {
	if recipe := os.Getenv(making); recipe != "" {
		w, err := wanted(recipe)
		if err == nil {
			_, err = new(realize.Environments).Use(context.Background(), w, func(string) {})
		}
		fmt.Println(err)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var two = []indextest.Package{
	{Name: "alpha", Version: "1.0", Needs: []string{"beta>=2"}, Licence: "MIT", Code: "import beta"},
	{Name: "beta", Version: "2.0", Licence: "Apache-2.0"},
}

// setup sets the variables that uv, or pip, is run with, and serves packages.
func setup(t *testing.T, uv bool, packages ...indextest.Package) *indextest.Index {
	t.Helper()
	for name, value := range indextest.Variables(t, uv) {
		t.Setenv(name, value)
	}
	return indextest.Serve(t, packages...)
}

// use makes or finds an environment.
func use(t *testing.T, p *realize.Environments, recipe string) (h *realize.Env, said string, err error) {
	t.Helper()
	w, err := wanted(recipe)
	testkit.None(t, err)
	var mu sync.Mutex
	h, err = p.Use(t.Context(), w, func(line string) {
		mu.Lock()
		defer mu.Unlock()
		said += line + "\n"
	})
	if err == nil {
		t.Cleanup(func() { h.Close() })
	}
	return h, said, err
}

func python(t *testing.T, h *realize.Env, code string) string {
	t.Helper()
	program, err := h.Find("python")
	testkit.None(t, err)
	out, err := exec.Command(program, "-c", code).CombinedOutput()
	testkit.None(t, err, string(out))
	return strings.TrimSpace(string(out))
}

// Each way to an environment of Python has the packages of its lock and their licences; the
// second use finds it and asks nobody.
func TestPython(t *testing.T) {
	for name, uv := range map[string]bool{"uv": true, "pylock": true, "script": true, "requirements by uv": true, "requirements by pip": false} {
		t.Run(name, func(t *testing.T) {
			x := setup(t, uv, two...)
			recipe := ""
			switch name {
			case "uv":
				recipe = uvRecipe(t, x)
			case "pylock":
				recipe = pylockRecipe(t, x)
			case "script":
				recipe = scriptRecipe(t, x)
			default:
				recipe = requirementsRecipe(t, requirements(x))
			}
			h, said, err := use(t, new(realize.Environments), recipe)
			testkit.None(t, err)
			testkit.Is(t, python(t, h, "import alpha; print(alpha.__version__, alpha.beta.__version__)"), "1.0 2.0")
			testkit.Is(t, fmt.Sprint(h.List), "[alpha 1.0 (MIT) beta 2.0 (Apache-2.0)]", "its packages")
			if !strings.Contains(said, "making environment.py") || !strings.HasPrefix(h.Python, indextest.Python(t)+".") {
				t.Errorf("said %q, Python %s", said, h.Python)
			}
			x.Server.Close()
			if _, said, err := use(t, new(realize.Environments), recipe); err != nil || said != "" {
				t.Errorf("the second time: %q, %v", said, err)
			}
		})
	}
}

// madeOnce uses an environment from n places at once, each as a process of its own, of which one makes it.
func madeOnce(t *testing.T, recipe string, n int) {
	t.Helper()
	var wg sync.WaitGroup
	made := make([]string, n)
	for i := range made {
		wg.Go(func() {
			_, said, err := use(t, new(realize.Environments), recipe)
			if err != nil {
				t.Error(err)
			}
			made[i] = said
		})
	}
	wg.Wait()
	testkit.Is(t, strings.Count(strings.Join(made, ""), "making environment.py"), 1, "makings")
}

// edit changes a module of an environment.
func edit(t *testing.T, dir string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "lib", "python*", "site-packages", "beta", "__init__.py"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	testkit.Write(t, found[0], "__version__ = 'edited'\n")
}

// Processes that need it at once make it once, and once more where all find it edited.
func TestTogether(t *testing.T) {
	x := setup(t, true, two...)
	recipe := uvRecipe(t, x)
	var asked atomic.Int64
	x.Asking = func() { asked.Add(1) }
	t.Run("none", func(t *testing.T) { madeOnce(t, recipe, 4) })
	if n := asked.Load(); n > 4 { // uv may ask for a wheel's head and its files
		t.Errorf("the index was asked for wheels %d times", n)
	}
	list, err := realize.List()
	testkit.None(t, err)
	edit(t, list[0].Dir)
	t.Run("edited", func(t *testing.T) { madeOnce(t, recipe, 8) })
}

// A process that waits to make an environment uses it once another one has made it, though that
// one goes on using it.
func TestMadeMeanwhile(t *testing.T) {
	recipe := uvRecipe(t, setup(t, true, two...))
	h, _, err := use(t, new(realize.Environments), recipe)
	testkit.None(t, err)
	record := h.Dir + ".json"
	testkit.None(t, os.Rename(record, record+".away")) // as if it were being made
	w, err := wanted(recipe)
	testkit.None(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	also, err := new(realize.Environments).Use(ctx, w, func(line string) {
		if err := os.Rename(record+".away", record); err != nil || !strings.HasPrefix(line, "waiting for another process") {
			t.Errorf("%s: %v", line, err)
		}
	})
	testkit.None(t, err)
	testkit.None(t, also.Close())
}

// What a killed process left is removed and made again.
func TestKilled(t *testing.T) {
	x := setup(t, true, two...)
	recipe := uvRecipe(t, x)
	testkit.None(t, os.RemoveAll(os.Getenv("UV_CACHE_DIR")))
	reached, goOn := make(chan bool, 10), make(chan bool)
	x.Asking = func() {
		select {
		case reached <- true:
		default:
		}
		<-goOn
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), making+"="+recipe)
	testkit.None(t, cmd.Start())
	<-reached
	list, err := realize.List()
	testkit.That(t, err == nil && len(list) == 1 && !list[0].Complete, "while it is made", list, err)
	testkit.ErrIs(t, list[0].Remove(), realize.ErrInUse, "removing it while it is made")
	testkit.None(t, cmd.Process.Kill())
	_ = cmd.Wait()
	close(goOn)
	testkit.None(t, testkit.Err(os.Stat(list[0].Dir+".work")), "the killed process left nothing, so nothing is tried")
	h, said, err := use(t, new(realize.Environments), recipe)
	if err != nil || !strings.Contains(said, "making") {
		t.Fatalf("%q, %v", said, err)
	}
	testkit.Is(t, python(t, h, "import alpha; print(alpha.__version__)"), "1.0")
	testkit.ErrIs(t, testkit.Err(os.Stat(list[0].Dir+".work")), os.ErrNotExist, "the work folder")
}

// failed fails a test whose recipe does not end with such an error, or leaves something.
func failed(t *testing.T, recipe string, passing bool, says string) {
	t.Helper()
	_, _, err := use(t, new(realize.Environments), recipe)
	testkit.ErrSays(t, err, says)
	if wrong, ok := errors.AsType[*realize.Error](err); !ok || wrong.Passing != passing {
		t.Errorf("passing: %t; got %v", !passing, err)
	}
	if list, err := realize.List(); err != nil || len(list) != 0 {
		t.Errorf("left %+v, %v", list, err)
	}
}

// Without a network the error says what was wanted and that another try may do; nothing is left.
func TestNoNetwork(t *testing.T) {
	for name, uv := range map[string]bool{"uv": true, "pip": false} {
		t.Run(name, func(t *testing.T) {
			x := setup(t, uv, two...)
			recipe := requirementsRecipe(t, requirements(x))
			x.Server.Close()
			failed(t, recipe, true, "the packages of requirements.txt could not be fetched")
		})
	}
}

// What the lock does not have, and a hash that is another, are refused.
func TestOtherFiles(t *testing.T) {
	x := setup(t, true, two...)
	text := requirements(x)
	i := strings.LastIndex(text, "sha256:") + len("sha256:")
	_, _, err := use(t, new(realize.Environments), requirementsRecipe(t, text[:i]+strings.Repeat("0", 64)+"\n"))
	testkit.That(t, err != nil && strings.Contains(strings.ToLower(err.Error()), "hash"), "got", err)
}

// An edited file is noticed, when a step has ended and by the next process, which makes the
// environment again.
func TestEdited(t *testing.T) {
	x := setup(t, true, two...)
	recipe := uvRecipe(t, x)
	p := new(realize.Environments)
	h, _, err := use(t, p, recipe)
	testkit.None(t, err)
	edit(t, h.Dir)
	realize.LookAgain(p)
	testkit.ErrSays(t, h.Unchanged(t.Context()), "beta/__init__.py not there -> edited after it was installed")
	testkit.None(t, h.Close())
	for name, place := range map[string]*realize.Environments{"this process": p, "another one": new(realize.Environments)} {
		edit(t, h.Dir)
		realize.LookAgain(p)
		if name == "this process" {
			_ = h.Unchanged(t.Context())
		}
		again, said, err := use(t, place, recipe)
		if err != nil || !strings.Contains(said, "environment.py is rebuilt: beta/__init__.py not there -> edited") {
			t.Fatalf("%s: %q, %v", name, said, err)
		}
		testkit.Is(t, python(t, again, "import beta; print(beta.__version__)"), "2.0", name)
		testkit.None(t, again.Close())
	}
}

// A full disk is said with what to do, and nothing unfinished stays.
func TestFullDisk(t *testing.T) {
	x := setup(t, true, indextest.Package{Name: "alpha", Version: "1.0", Code: "# " + strings.Repeat("x", 4<<20)})
	recipe := requirementsRecipe(t, requirements(x))
	root := os.Getenv(realize.Variable)
	testkit.None(t, os.MkdirAll(root, 0o700))
	if err := syscall.Mount("none", root, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("this account mounts no disk of its own: %v", err)
	}
	t.Cleanup(func() { testkit.None(t, syscall.Unmount(root, syscall.MNT_DETACH)) })
	failed(t, recipe, false, "there is no space for it")
}

// A lock of a pyproject.toml that has changed since is refused, and so is another platform.
func TestRefused(t *testing.T) {
	x := setup(t, true, two...)
	r, err := environment.Parse([]byte(uvRecipe(t, x)))
	testkit.None(t, err)
	other := r
	other.Platform = "macos-arm64"
	text, err := other.Text()
	testkit.None(t, err)
	_, _, err = use(t, new(realize.Environments), string(text))
	testkit.ErrSays(t, err, "it is for macos-arm64, and this machine is")
	t.Setenv("PATH", "/nowhere")
	_, _, err = use(t, new(realize.Environments), textOf(t, r))
	testkit.ErrSays(t, err, "this machine has no uv, which makes an environment of uv.lock: install uv (pip install uv)")
}

// What was not used for long is removed; what is in use stays.
func TestRemove(t *testing.T) {
	x := setup(t, true, two...)
	h, _, err := use(t, new(realize.Environments), uvRecipe(t, x))
	testkit.None(t, err)
	list, err := realize.List()
	if err != nil || len(list) != 1 || !list[0].Complete || time.Since(list[0].Used) > time.Hour || list[0].Bytes == 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	testkit.ErrIs(t, list[0].Remove(), realize.ErrInUse, "in use")
	testkit.None(t, errors.Join(h.Close(), list[0].Remove()))
	// What is somebody else's, in a folder that is shared, is none.
	root := os.Getenv(realize.Variable)
	for _, name := range []string{"data", "uv"} {
		testkit.None(t, os.Mkdir(filepath.Join(root, name), 0o755))
		testkit.Write(t, filepath.Join(root, name+".lock"), "")
	}
	if list, err := realize.List(); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}
