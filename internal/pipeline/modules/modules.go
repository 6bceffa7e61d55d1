// Package modules fetches the modules of a pipeline: from a folder or file beside it, or from a commit of a git repository.
// A commit is fetched once, by the git program, pinned in redsi.lock by its id and the digest of its files, and kept in a
// cache folder; then it needs no network. Nothing in a repository is run: its files are written from its archive, so that
// neither hooks nor filters see them. The package must not know how pipelines are evaluated.
package modules

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/redsi/redsi/internal/host/git"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

type Reader struct {
	Lock  string // the pipeline's lock file
	Cache string // folder for commits

	// Each may be nil.
	Pins   *lockfile.File           // is read instead of Lock, such as a commit's lock file: nothing is pinned then
	Accept func(file string) error  // refuses folders and files of modules; a repository must be pinned already then
	Update func(source string) bool // says which repositories' refs are looked up, though they are pinned

	Used   []Used        // repositories, in the order in which they were opened
	Waited time.Duration // for repositories
}

type Used struct {
	Repository
	Commit string
	Before string // what was pinned before; "" if nothing was
}

// For is Open in the form of pipeline.Options.
func (r *Reader) For(ctx context.Context) func(folder, source string) (map[string][]byte, error) {
	return func(folder, source string) (map[string][]byte, error) { return r.Open(ctx, folder, source) }
}

// Open returns the pipeline files of a module's source, which is relative to the folder.
func (r *Reader) Open(ctx context.Context, folder, source string) (map[string][]byte, error) {
	repository, isGit, err := ParseGit(source)
	if err != nil {
		return nil, err
	}
	if !isGit {
		if err := r.accepts(syntax.Beside(folder, source)); err != nil && declare.IsLocalModule(source) {
			return nil, err
		}
		files, err := declare.LocalModule(folder, source)
		if err != nil {
			return nil, err
		}
		for name := range files { // a link in a folder may lead out of it
			if err := r.accepts(name); err != nil {
				return nil, err
			}
		}
		return files, nil
	}
	began := time.Now()
	dir, err := r.checkout(ctx, repository)
	r.Waited += time.Since(began)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return syntax.Read(filepath.Join(dir, filepath.FromSlash(repository.Folder)))
}

// accepts refuses a path outside the accepted folders, except in a pinned commit.
func (r *Reader) accepts(file string) error {
	if r.Accept == nil {
		return nil
	}
	if inside, err := filepath.Rel(r.Cache, filepath.FromSlash(file)); err == nil && filepath.IsLocal(inside) {
		return nil
	}
	return r.Accept(filepath.FromSlash(file))
}

// checkout is a folder with the files of a repository's commit: the pinned one, else its ref's, which it pins.
func (r *Reader) checkout(ctx context.Context, of Repository) (string, error) {
	for _, u := range r.Used { // one commit per pipeline
		if u.Source() == of.Source() {
			return r.folder(of, u.Commit), nil
		}
	}
	lock, err := r.Pins, error(nil)
	if lock == nil {
		lock, err = lockfile.Read(r.Lock)
	}
	if err != nil {
		return "", err
	}
	pin, pinned := lock.Module(of.Source())
	switch {
	case r.Accept != nil && !pinned:
		return "", fmt.Errorf("it is not pinned in %s: run redsi validate where the pipeline is, and copy the file here", r.Lock)
	case r.Pins != nil && !pinned:
		return "", fmt.Errorf("its commit is not pinned in %s there", lockfile.Name)
	case r.Update != nil && r.Update(of.Source()):
		return r.pin(ctx, of, pin.Commit)
	case !pinned:
		return r.pin(ctx, of, "")
	}
	dir := r.folder(of, pin.Commit)
	if tree, err := treeOf(dir); err != nil || tree != pin.Tree { // missing or changed
		if _, dir, err = r.fetch(ctx, of, pin.Commit); err != nil {
			return "", err
		}
		if tree, err = treeOf(dir); err != nil {
			return "", err
		} else if tree != pin.Tree {
			return "", fmt.Errorf("commit %s has files with digest %s, but %s pins %s: they are not what was pinned", pin.Commit, tree, r.Lock, pin.Tree)
		}
	}
	r.Used = append(r.Used, Used{of, pin.Commit, pin.Commit})
	return dir, nil
}

// pin fetches the present commit of a ref, and pins it.
func (r *Reader) pin(ctx context.Context, of Repository, before string) (string, error) {
	commit, dir, err := r.fetch(ctx, of, "")
	if err != nil {
		return "", err
	}
	tree, err := treeOf(dir)
	if err != nil {
		return "", err
	}
	r.Used = append(r.Used, Used{of, commit, before})
	return dir, lockfile.PinModule(r.Lock, lockfile.Module{Source: of.Source(), Commit: commit, Tree: tree})
}

func (r *Reader) fetch(ctx context.Context, of Repository, commit string) (string, string, error) {
	if err := os.MkdirAll(r.Cache, 0o755); err != nil {
		return "", "", err
	}
	r.sweep()
	tmp, err := os.MkdirTemp(r.Cache, ".fetch-")
	if err != nil {
		return "", "", err
	}
	defer os.RemoveAll(tmp)
	repository := filepath.Join(tmp, "git")
	got, err := "", errors.New("")
	if commit != "" {
		got, err = fetch(ctx, repository, of.URL, commit)
	}
	if err != nil { // some servers give commits only by ref
		if got, err = fetch(ctx, repository, of.URL, of.Ref); err != nil {
			return "", "", err
		}
	}
	if commit != "" && got != commit {
		return "", "", fmt.Errorf("%s is now commit %s, but %s pins %s, which the repository no longer has: redsi sources update pins the new one", of.Ref, got, r.Lock, commit)
	}
	files := filepath.Join(tmp, "files")
	if err := extract(ctx, repository, got, files); err != nil {
		return "", "", err
	}
	dir := r.folder(of, got)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", "", err
	}
	err = os.Rename(files, dir)
	if errors.Is(err, fs.ErrExist) { // from another process, or changed
		here, herr := treeOf(dir)
		if ours, err := treeOf(files); herr == nil && err == nil && here == ours {
			return got, dir, nil
		}
		if err = os.Rename(dir, filepath.Join(tmp, "old")); err == nil {
			err = os.Rename(files, dir)
		}
	}
	return got, dir, err
}

// sweep removes what killed fetches have left.
func (r *Reader) sweep() {
	left, _ := fs.Glob(os.DirFS(r.Cache), ".fetch-*") // the pattern is valid
	for _, name := range left {
		folder := filepath.Join(r.Cache, name)
		if info, err := os.Stat(folder); err == nil && time.Since(info.ModTime()) > 4*fetchTime {
			_ = os.RemoveAll(folder) // if it fails, the next fetch tries
		}
	}
}

func (r *Reader) folder(of Repository, commit string) string {
	sum := sha256.Sum256([]byte(of.URL))
	name := strings.TrimSuffix(path.Base(of.URL), ".git") + "-" + hex.EncodeToString(sum[:4])
	return filepath.Join(r.Cache, name, commit)
}

// treeOf is a digest of the names and bytes of a folder's files.
func treeOf(folder string) (string, error) { return dirhash.HashDir(folder, "", dirhash.Hash1) }

// Moved returns the commit that a repository's ref has moved to; "" if it is the one in use.
func (u Used) Moved(ctx context.Context) (string, error) {
	now, err := remoteCommit(ctx, u.Repository)
	if err != nil || now == u.Commit {
		return "", err
	}
	return now, nil
}

type Repository struct {
	URL    string
	Ref    string // a branch, tag or full commit id
	Folder string // slash-separated, within the repository; "." for all of it
}

// Source is the repository as redsi.lock names it, without the folder.
func (r Repository) Source() string { return gitPrefix + r.URL + "?ref=" + r.Ref }

const gitPrefix = "git::"

// refForm is the form of a ref, which cannot begin like an option, nor be a refspec with a colon.
var refForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./+@-]*$`)

// ParseGit reads git::URL//FOLDER?ref=REF, whose folder is optional; ok is false of other forms.
func ParseGit(source string) (r Repository, ok bool, err error) {
	rest, ok := strings.CutPrefix(source, gitPrefix)
	if !ok {
		return r, false, nil
	}
	fail := func(format string, args ...any) (Repository, bool, error) {
		return Repository{}, true, fmt.Errorf("%q: %s; a repository is written git::https://HOST/PATH//FOLDER?ref=REF", source, fmt.Sprintf(format, args...))
	}
	u, err := url.Parse(rest)
	if err != nil {
		return fail("it is not a URL")
	}
	query, err := url.ParseQuery(u.RawQuery)
	_, password := u.User.Password()
	switch {
	case !slices.Contains(git.Schemes, u.Scheme):
		return fail("the URL begins with %s://", strings.Join(git.Schemes, "://, "))
	case u.Scheme != "file" && u.Host == "" || strings.HasPrefix(u.Host, "-") || strings.HasPrefix(u.User.Username(), "-"):
		return fail("it has no host")
	case password:
		return fail("it has a password, which every reader of the pipeline could see: use git's credential helper")
	case err != nil || len(query) != 1 || len(query["ref"]) != 1 || u.Fragment != "":
		return fail("it needs ?ref= with a branch, tag or commit, and nothing else")
	case !refForm.MatchString(query.Get("ref")) || strings.Contains(query.Get("ref"), ".."):
		return fail("%q is not a branch, tag or commit", query.Get("ref"))
	}
	r.Ref = query.Get("ref")
	repository, folder, _ := strings.Cut(u.EscapedPath(), "//")
	if r.Folder, err = url.PathUnescape(folder); err != nil || strings.ContainsAny(r.Folder, "\\\x00") || slices.Contains(strings.Split(r.Folder, "/"), "..") {
		return fail("%q is not a folder of a repository", folder)
	}
	r.Folder = path.Clean(strings.Trim(r.Folder, "/"))
	u.RawQuery, u.RawPath = "", ""
	if u.Path, err = url.PathUnescape(repository); err != nil || strings.Trim(u.Path, "/") == "" {
		return fail("it has no path to a repository")
	}
	r.URL = u.String()
	return r, true, nil
}

// Limits for one repository.
const (
	fetchTime = 5 * time.Minute
	maxBytes  = 512 << 20 // of the fetched data, and of its files
	maxFiles  = 100_000
)

func run(ctx context.Context, repository string, args ...string) (string, error) {
	var out bytes.Buffer
	err := runTo(ctx, &out, repository, nil, args...)
	return strings.TrimSpace(out.String()), err
}

func runTo(ctx context.Context, out io.Writer, repository string, env []string, args ...string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, fetchTime, fmt.Errorf("it took longer than %s", fetchTime))
	defer cancel()
	return git.To(ctx, out, env, append([]string{"--git-dir", repository}, args...)...)
}

// fetch fetches one commit, by ref or id, into a new bare repository.
func fetch(ctx context.Context, repository, from, ref string) (commit string, err error) {
	if err := os.MkdirAll(repository, 0o755); err != nil {
		return "", err
	}
	if _, err := run(ctx, repository, "init", "--quiet", "--bare", "--template="); err != nil {
		return "", err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go bound(ctx, cancel, repository)
	if _, err := run(ctx, repository, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", from, ref); err != nil {
		return "", err
	}
	return run(ctx, repository, "rev-parse", "--verify", "--end-of-options", "FETCH_HEAD^{commit}")
}

// bound ends ctx when a folder exceeds the size limit for repositories.
func bound(ctx context.Context, end context.CancelCauseFunc, folder string) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(200 * time.Millisecond):
		}
		var n int64
		_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error { // files that vanish count nothing
			if err == nil && d.Type().IsRegular() {
				if info, err := d.Info(); err == nil {
					n += info.Size()
				}
			}
			return nil
		})
		if n > maxBytes {
			end(fmt.Errorf("it has more than %d MiB", maxBytes>>20))
		}
	}
}

// remoteCommit asks a server for the present commit of a ref; "": ref is itself the id of a commit.
func remoteCommit(ctx context.Context, r Repository) (string, error) {
	if (len(r.Ref) == 40 || len(r.Ref) == 64) && strings.Trim(r.Ref, "0123456789abcdef") == "" {
		return "", nil
	}
	out, err := run(ctx, os.DevNull, "ls-remote", "--quiet", "--", r.URL, r.Ref, r.Ref+"^{}")
	if err != nil {
		return "", err
	}
	ids := map[string]string{}
	for line := range strings.Lines(out) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		ids[name] = id
	}
	for _, name := range []string{r.Ref, "refs/" + r.Ref, "refs/tags/" + r.Ref, "refs/heads/" + r.Ref} { // as fetch chooses
		if id := cmp.Or(ids[name+"^{}"], ids[name]); id != "" { // an annotated tag's commit comes first
			return id, nil
		}
	}
	return "", fmt.Errorf("%s has no %s", r.URL, r.Ref)
}

// extract writes the files of a commit into a new folder, without the user's git settings: they are the same everywhere.
func extract(ctx context.Context, repository, commit, folder string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := unpack(r, folder)
		if err != nil {
			cancel(err)
		}
		r.CloseWithError(err)
		done <- err
	}()
	err := runTo(ctx, w, repository, []string{"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1"},
		"archive", "--format=tar", commit)
	w.CloseWithError(err) // nil is the end of the archive
	if unpacked := <-done; unpacked != nil {
		return unpacked
	}
	return err
}

func unpack(r io.Reader, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	left, files := int64(maxBytes), 0
	archive := tar.NewReader(r)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			_, err := io.Copy(io.Discard, r) // git ends only once everything is read
			return err
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue // folders come with their files; a link, or what git says of the archive, is not a file of a pipeline
		}
		if left, files = left-h.Size, files+1; left < 0 || files > maxFiles {
			return fmt.Errorf("it has more than %d MiB or %d files", maxBytes>>20, maxFiles)
		}
		if err := writeFile(root, filepath.FromSlash(h.Name), archive, fs.FileMode(h.Mode)&0o755|0o444); err != nil {
			return err
		}
	}
}

func writeFile(root *os.Root, name string, from io.Reader, mode fs.FileMode) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}
