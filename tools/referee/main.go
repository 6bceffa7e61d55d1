package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	var r referee
	flag.StringVar(&r.redsi, "redsi", "bin/redsi", "the program")
	flag.StringVar(&r.tree, "tree", ".", "folder of the pipeline")
	flag.StringVar(&r.store, "store", filepath.Join(".redsi", "store"), "store with all results of its tables and figures")
	flag.StringVar(&r.without, "without-blobs-over", "", "as of redsi publish")
	keep := flag.Bool("keep", false, "leave the folder of the trial")
	flag.Parse()
	r.args = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "referee-")
	if err == nil {
		r.dir = dir
		err = r.play(ctx)
		if !*keep {
			err = errors.Join(err, os.RemoveAll(dir))
		} else {
			fmt.Println(dir)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "referee:", err)
		os.Exit(1)
	}
}

// referee is one trial.
type referee struct {
	redsi, tree, store, without string
	args                        []string // for redsi: the pipeline's variables

	dir, public, key string
	env              []string
	host             *host
}

// path is something in the folder of the trial.
func (r *referee) path(name string) string { return filepath.Join(r.dir, name) }

func (r *referee) play(ctx context.Context) error {
	for _, p := range []*string{&r.redsi, &r.tree, &r.store} {
		abs, err := filepath.Abs(*p)
		if err != nil {
			return err
		}
		*p = abs
	}
	r.public = r.path("public")
	r.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.path("home"), "TMPDIR=" + os.TempDir(), "REDSI_TEMPORAL_SERVER=/nonexistent"}
	if err := r.publish(ctx); err != nil {
		return err
	}
	r.host = &host{dir: r.public}
	server := httptest.NewServer(r.host)
	defer server.Close()
	r.env = append(r.env, "REDSI_FROM="+server.URL)
	if err := r.read(ctx); err != nil {
		return err
	}
	return r.spoil(ctx)
}

// publish makes a key and the published folder.
func (r *referee) publish(ctx context.Context) error {
	key := "REDSI_SIGNING_KEY=" + r.path("key")
	out, err := r.run(ctx, r.tree, []string{key}, "key", "new", "--name", "authors")
	if err != nil {
		return err
	}
	r.key, _, _ = strings.Cut(out, "\n")
	began := time.Now()
	args := append([]string{"publish", r.public, "--store", r.store, "--state", r.path("state")}, r.args...)
	if r.without != "" {
		args = append(args, "--without-blobs-over", r.without)
	}
	out, err = r.run(ctx, r.tree, []string{key}, args...)
	if err != nil {
		return err
	}
	said, _, _ := strings.Cut(out, "\n")
	fmt.Printf("%6.1f s  %s\n", time.Since(began).Seconds(), strings.ReplaceAll(said, r.public, "the folder"))
	return nil
}

// read is the referee's way: the tree, the plan, all tables, the report.
func (r *referee) read(ctx context.Context) error {
	began := time.Now()
	clone := r.path("clone")
	if err := r.clone(ctx, clone); err != nil {
		return err
	}
	fmt.Printf("%6.1f s  clone\n", time.Since(began).Seconds())
	trust := append([]string{"--trust", r.key}, r.args...)
	for _, step := range [][]string{{"plan", "--detailed-exitcode"}, {"run", "--quiet"}, {"report"}} {
		at := time.Now()
		out, err := r.run(ctx, clone, nil, append(step, trust...)...)
		if err != nil {
			return err
		}
		fmt.Printf("%6.1f s  redsi %s: %s\n", time.Since(at).Seconds(), step[0], summary(out))
		if step[0] == "run" && !strings.Contains(out, ", 0 ran, ") {
			return fmt.Errorf("a step ran: %s", out)
		}
	}
	fmt.Printf("%6.1f s  in all, from the clone to the report\n", time.Since(began).Seconds())
	return nil
}

// summary is the line of an output that counts steps.
func summary(out string) string {
	for line := range strings.Lines(out) {
		if strings.Contains(line, " steps") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func (r *referee) clone(ctx context.Context, to string) error {
	if _, err := os.Stat(filepath.Join(r.tree, ".git")); err == nil {
		out, err := exec.CommandContext(ctx, "git", "clone", "--quiet", r.tree, to).CombinedOutput()
		if err != nil {
			return fmt.Errorf("git clone: %w: %s", err, out)
		}
		return nil
	}
	return filepath.WalkDir(r.tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(r.tree, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (rel == ".redsi" || rel == "results"):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o644)
	})
}

// run is one command; its error has what it said.
func (r *referee) run(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, r.redsi, args...)
	cmd.Dir, cmd.Env = dir, append(r.env[:len(r.env):len(r.env)], env...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return out.String() + said.String(), fmt.Errorf("redsi %s: %w\n%s%s", strings.Join(args, " "), err, out.String(), said.String())
	}
	return out.String(), nil
}

// host serves a folder; answers about blobs break off half way if it is told so.
type host struct {
	dir  string
	half bool
}

func (h *host) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if h.half && q.Method == http.MethodGet && strings.HasPrefix(q.URL.Path, "/blobs/") {
		w.Header().Set("Content-Length", "1000000")
		_, _ = w.Write([]byte("the first half"))
		panic(http.ErrAbortHandler)
	}
	http.FileServer(http.Dir(h.dir)).ServeHTTP(w, q)
}
