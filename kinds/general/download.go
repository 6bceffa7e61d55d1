package general

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/host/rates"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// downloadConfig is a set of files. The key has their names and checksums, not where they come from.
type downloadConfig struct {
	URLs    []string `hcl:"urls,nokey" help:"sources: https://, http://, gs://bucket/object, file:///path, or a path relative to the pipeline; of gs:// and of this machine also patterns and folders, which end in a slash"`
	SHA256  []string `hcl:"sha256,optional" help:"checksum of each source, in hex, where none is a pattern; without it the first download pins it in redsi.lock (local files are hashed when planned)"`
	Names   []string `hcl:"names,optional" help:"file name of each source, where none is a pattern; default: the last part of its URL, or what a pattern or folder adds to its fixed part"`
	Mirrors []string `hcl:"mirrors,optional,nokey" help:"URL prefixes to try after a source itself has failed; the file name is appended"`
	License string   `hcl:"license,optional,nokey" help:"licence of the files, such as CC BY-SA 3.0; the report prints it"`
	Bytes   int      `hcl:"bytes,optional,nokey" min:"0" unit:"bytes" help:"how large all files are together, about, as their publisher says: for redsi plan, until redsi.lock has their sizes"`
}

var Download = step.Define(step.Kind[downloadConfig]{
	Name:    "download",
	Version: 1,
	Doc: `Bring files from where they are published, or from this machine.
A source is a URL or the path of a local file. An interrupted transfer continues where it stopped, also in a later run. Every
file is checked against its checksum; a source without one is pinned by its
first download in redsi.lock beside the pipeline, which is warned of where a server sent a page, nothing, or a pointer of
Git LFS in its place. Each file is a part of its
own: adding one downloads one. A pattern has *, ? and [a-z] within one part of a
name, and ** for any number of folders; what one of gs:// stands for is pinned in
redsi.lock when it is planned first, and redsi sources update lists it anew. Cost: the bytes, once over the network and twice
over the disk.`,
	Example: `step "download" "nq_dev" {
  urls = [for i in range(5) : format("gs://natural_questions/v1.0/dev/nq-dev-%02d.jsonl.gz", i)]
}`,
	Outputs: []step.Output{{Name: "files", Type: "files", Tree: true, Help: "the files, by name"}},
	Check:   checkDownload,
	Resolve: resolveDownload,
	Pins: func(c downloadConfig, out map[string]artifacts.Artifact) []step.Pin {
		var pins []step.Pin
		for i, u := range c.URLs {
			if i < len(c.SHA256) && isPlaceholder(c.SHA256[i]) {
				if f, ok := out["files"].File(c.Names[i]); ok {
					pins = append(pins, step.Pin{Source: u, SHA256: f.Digest, Size: f.Size})
				}
			}
		}
		return pins
	},
	Parts: []step.Spec{downloadFile.Spec},
	Split: func(_ context.Context, _ *step.IO, c downloadConfig) ([]step.Task, error) {
		var parts []downloadFileConfig
		for i, u := range c.URLs {
			parts = append(parts, downloadFileConfig{URL: u, Name: c.Names[i], SHA256: c.SHA256[i], Mirrors: c.Mirrors})
		}
		return inout.Tasks(downloadFile, parts)
	},
	Known: func(_ *step.IO, c downloadConfig, parts []*artifacts.Result) map[string][]artifacts.File {
		var files []artifacts.File
		for i, p := range parts {
			if p != nil {
				f := p.Outputs["file"]
				files = append(files, artifacts.File{Name: c.Names[i], Digest: f.Digest, Size: f.Size})
			}
		}
		return map[string][]artifacts.File{"files": files}
	},
	Work: downloadConfig.work,
	Leaves: func(c downloadConfig) map[string][]string {
		names, err := downloadNames(c)
		if err != nil || slices.ContainsFunc(c.URLs, fetch.IsPattern) {
			return nil // Check says so, or nobody knows before it is planned
		}
		return map[string][]string{"files": names}
	},
	Run: func(_ context.Context, x *step.IO, c downloadConfig) error {
		for i, p := range x.Parts() {
			f := p.Outputs["file"]
			if err := x.LinkFile("files", artifacts.File{Name: c.Names[i], Digest: f.Digest, Size: f.Size}); err != nil {
				return err
			}
			x.Count("bytes", f.Size)
		}
		return nil
	},
})

func checkDownload(c downloadConfig) error {
	if len(c.URLs) == 0 {
		return step.Problems{{Path: "urls", Detail: "needs at least one source"}}
	}
	var ps step.Problems
	for i, u := range c.URLs {
		s, err := fetch.ParseSource(u)
		switch {
		case fetch.IsPattern(u):
			err = checkPattern(c, u)
		case err == nil && s.Path == "" && strings.Contains(u, "*"):
			err = errors.New("is a pattern, and such a server does not list its files: name each, as [for n in range(5) : format(\"…/part-%02d.gz\", n)] does; a star in a name is written %2A")
		}
		inout.CheckError(&ps, fmt.Sprintf("urls[%d]", i), err)
	}
	allOrNone := func(n int) bool { return n == 0 || n == len(c.URLs) }
	inout.Check(&ps, "sha256", allOrNone(len(c.SHA256)), "has %d checksums for %d sources", len(c.SHA256), len(c.URLs))
	for i, s := range c.SHA256 {
		if !isPlaceholder(s) {
			checkHex(&ps, fmt.Sprintf("sha256[%d]", i), s)
		}
	}
	inout.Check(&ps, "names", allOrNone(len(c.Names)), "has %d names for %d sources", len(c.Names), len(c.URLs))
	if len(ps) == 0 && !slices.ContainsFunc(c.URLs, fetch.IsPattern) {
		names, _ := downloadNames(c)
		ps = checkNames(names)
	}
	return ps.Err()
}

func checkPattern(c downloadConfig, url string) error {
	switch {
	case len(c.Names) > 0:
		return errors.New("stands for several files, whose names are what it adds to its fixed part: leave names out")
	case len(c.SHA256) > 0:
		return errors.New("stands for several files, which redsi.lock pins: leave sha256 out")
	}
	return fetch.CheckPattern(url)
}

func expandPatterns(ctx context.Context, env step.Sources, c downloadConfig) (downloadConfig, error) {
	if !slices.ContainsFunc(c.URLs, fetch.IsPattern) {
		return c, nil
	}
	written := c.URLs
	c.URLs, c.Names = nil, nil
	add := func(url, name string) {
		c.URLs, c.Names = append(c.URLs, url), append(c.Names, name)
	}
	for _, u := range written {
		s, err := fetch.ParseSource(u)
		switch {
		case !fetch.IsPattern(u) && err != nil:
			return c, err
		case !fetch.IsPattern(u):
			add(u, s.Name())
		case strings.HasPrefix(u, "gs://"):
			found, err := env.Listed(ctx, u)
			if err != nil {
				return c, err
			}
			folder, _ := fetch.SplitPattern(u)
			for _, f := range found {
				add(f, strings.TrimPrefix(f, folder))
			}
		default:
			f, err := env.LocalTree(ctx, s.Path, true)
			if err != nil {
				return c, err
			}
			for _, x := range f.Tree.Files {
				if x.Mode != artifacts.Folder { // a link is the file that it leads to
					add(filepath.Join(f.Root, filepath.FromSlash(x.Name)), x.Name)
				}
			}
		}
	}
	return c, checkNames(c.Names).Err()
}

// checkNames finds sources whose files would have one name.
func checkNames(names []string) (ps step.Problems) {
	seen := map[string]int{}
	for i, n := range names {
		j, twice := seen[n]
		inout.Check(&ps, fmt.Sprintf("urls[%d]", i), !twice, "has the same file name %q as urls[%d]; give names", n, j)
		seen[n] = i
	}
	return ps
}

func downloadNames(c downloadConfig) ([]string, error) {
	if len(c.Names) > 0 {
		return c.Names, nil
	}
	names := make([]string, len(c.URLs))
	for i, u := range c.URLs {
		s, err := fetch.ParseSource(u)
		if err != nil {
			return nil, err
		}
		names[i] = s.Name()
	}
	return names, nil
}

// placeholder begins the checksum in the key of bytes that nobody has seen yet.
const placeholder = "unpinned:"

func isPlaceholder(sum string) bool { return strings.HasPrefix(sum, placeholder) }

// resolveDownload fills in names and, from the lock file or the local files, checksums; local paths become absolute.
func resolveDownload(ctx context.Context, env step.Sources, c downloadConfig) (downloadConfig, error) {
	c, err := expandPatterns(ctx, env, c)
	if err != nil {
		return c, err
	}
	if c.Names, err = downloadNames(c); err != nil {
		return c, err
	}
	sums := make([]string, len(c.URLs))
	urls := make([]string, len(c.URLs))
	failed := make([]error, len(c.URLs))
	for i, u := range c.URLs {
		if i < len(c.SHA256) && !isPlaceholder(c.SHA256[i]) {
			sums[i] = strings.ToLower(c.SHA256[i])
		}
		urls[i], sums[i], failed[i] = resolveSource(ctx, env, u, sums[i])
	}
	c.URLs, c.SHA256 = urls, sums
	return c, errors.Join(failed...)
}

func resolveSource(ctx context.Context, env step.Sources, raw, sum string) (string, string, error) {
	s, err := fetch.ParseSource(raw)
	if err != nil {
		return raw, sum, err
	}
	if s.Path != "" {
		pin, err := env.LocalFile(ctx, s.Path)
		switch {
		case err != nil && sum != "":
			return raw, sum, nil // pinned: the store may have it although the file is elsewhere
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission):
			return raw, sum, fmt.Errorf("%w; a folder is written with a slash at its end", err)
		case err != nil:
			return raw, sum, err
		case sum != "" && sum != pin.SHA256.Hex():
			return raw, sum, fmt.Errorf("%s has sha256 %s, not %s", raw, pin.SHA256.Hex(), sum)
		}
		return fetch.OfFile(pin.Source), pin.SHA256.Hex(), nil
	}
	if sum != "" {
		return raw, sum, nil
	}
	if pin, ok := env.Pinned(raw); ok {
		return raw, pin.SHA256.Hex(), nil
	}
	return raw, placeholder + raw, nil
}

type downloadFileConfig struct {
	URL     string   `hcl:"url,nokey" help:"source"`
	Name    string   `hcl:"name,nokey" help:"file name"`
	SHA256  string   `hcl:"sha256" help:"checksum in hex, or a placeholder before the first download"`
	Mirrors []string `hcl:"mirrors,optional,nokey" help:"URL prefixes to try next"`
}

var downloadFile = step.DefinePart(step.Kind[downloadFileConfig]{
	Name:    "download_file",
	Version: 1,
	Doc:     "One file of a download.",
	Outputs: []step.Output{{Name: "file", Type: "file", Help: "the bytes"}},
	Resolve: func(ctx context.Context, env step.Sources, c downloadFileConfig) (downloadFileConfig, error) {
		if !isPlaceholder(c.SHA256) {
			return c, nil
		}
		var err error
		c.URL, c.SHA256, err = resolveSource(ctx, env, c.URL, "")
		return c, err
	},
	Pins: func(c downloadFileConfig, out map[string]artifacts.Artifact) []step.Pin {
		if !isPlaceholder(c.SHA256) {
			return nil
		}
		return []step.Pin{{Source: c.URL, SHA256: out["file"].Digest, Size: out["file"].Size}}
	},
	Run: runDownloadFile,
})

func runDownloadFile(ctx context.Context, x *step.IO, c downloadFileConfig) error {
	urls := []string{c.URL}
	for _, m := range c.Mirrors {
		urls = append(urls, strings.TrimSuffix(m, "/")+"/"+c.Name)
	}
	req := fetch.Request{Partials: filepath.Join(x.Cache, "partial")}
	for _, raw := range urls {
		s, err := fetch.ParseSource(raw)
		if err != nil {
			return step.Permanent(err)
		}
		req.Sources = append(req.Sources, s)
	}
	req.Progress, req.Log = inout.Telling(x, "bytes", c.Name)
	if !isPlaceholder(c.SHA256) {
		req.SHA256 = c.SHA256
	}
	f, err := fetch.Get(ctx, req)
	if err != nil {
		return downloadError(err)
	}
	defer f.Close()
	if f.Source.Raw != c.URL {
		x.Count("from_mirror", 1)
	}
	in, err := os.Open(f.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	if isPlaceholder(c.SHA256) {
		head := make([]byte, 512)
		n, _ := io.ReadFull(in, head)
		page := path.Ext(c.Name) == "" || strings.Contains(path.Ext(c.Name), "htm")
		if is := unpack.Instead(head[:n]); is != "" && !(page && is == unpack.Page) {
			x.Log.Warn(fmt.Sprintf("what was sent as %s is %s: look at it; it is pinned as it is, and fetched anew once its source is deleted from redsi.lock", c.Name, is))
		}
		if _, err := in.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	out, err := x.Create("file")
	if err != nil {
		return err
	}
	h := sha256.New()
	if _, err := io.Copy(out, io.TeeReader(in, h)); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != f.SHA256 { // a local file, written to between two readings
		return &step.SourceChangedError{Path: f.Path, Err: fmt.Errorf("%s changed while it was read: wait until it is no longer being written, and run again", f.Path)}
	}
	return out.Close()
}

// downloadError decides on the retry: a local file with other bytes asks for another plan, a refusal of all sources
// for none.
func downloadError(err error) error {
	if other, ok := errors.AsType[*fetch.MismatchError](err); ok && other.Source.Path != "" {
		return &step.SourceChangedError{Path: other.Source.Path, Err: err}
	}
	if _, ok := errors.AsType[*fetch.Permanent](err); ok {
		return step.Permanent(err)
	}
	return err
}

// work names the published model whose files these are, and the bytes that the configuration expects.
func (c downloadConfig) work() (w step.Work) {
	for _, u := range c.URLs {
		// A mirror has the hub's paths: …/OWNER/NAME/resolve/REVISION/FILE.
		if name, _, file := strings.Cut(u, "/resolve/"); file {
			words := strings.Split(name, "/")
			w.Shape = cmp.Or(w.Shape, rates.ShapeOf(strings.Join(words[max(0, len(words)-2):], "/")))
		}
	}
	if c.Bytes > 0 {
		w.Counts = map[string]step.Amount{step.BytesCount: step.Exactly(float64(c.Bytes))}
	}
	return w
}
