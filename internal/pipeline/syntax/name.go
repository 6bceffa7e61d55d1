package syntax

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/redsi/redsi/internal/system/filetype"
)

// DefaultFile is the pipeline that is read when none is named.
const DefaultFile = "pipelines.hcl"

// TestSuffix ends the names of files that test the pipeline beside them and are not part of it.
const TestSuffix = ".test.hcl"

// LocalFile is what one person has set for a pipeline on one machine. It is not part of the pipeline.
const LocalFile = "redsi.local.hcl"

type File struct {
	Name  string
	Bytes []byte
}

// Folder is the folder whose Parts a DefaultFile stands for; ok is false of other files, each a pipeline of its own.
func Folder(name string) (folder string, ok bool) {
	return filepath.Dir(name), filepath.Base(name) == DefaultFile
}

// IsPart reports whether a file belongs to its folder's pipeline: every *.hcl but tests, settings and hidden files.
func IsPart(name string) bool { return IsPipeline(name) && !isHidden(name) }

// Around is the DefaultFile beside a pipeline file of another name; "": there is none.
func Around(name string) string {
	folder, isFolder := Folder(name)
	around := filepath.Join(folder, DefaultFile)
	if info, err := os.Stat(around); isFolder || err != nil || info.IsDir() || !IsPart(name) {
		return ""
	}
	return around
}

// Read collects a path's pipeline files: the Parts of a folder, or of a file's, or that file; "": DefaultFile here.
func Read(name string) (map[string][]byte, error) { return readFiles(name, IsPipeline) }

// ReadAll is Read that takes files of tests, too.
func ReadAll(name string) (map[string][]byte, error) { return readFiles(name, isHCLFile) }

func readFiles(name string, takes func(file string) bool) (map[string][]byte, error) {
	files, err := filesOf(name, takes)
	if err != nil {
		return nil, err
	}
	sources := make(map[string][]byte, len(files))
	for _, f := range files {
		b, err := readRegular(f, MaxSource, "large constants belong in files of their own that file() reads")
		if err != nil {
			return nil, fmt.Errorf("read the pipeline: %w", err)
		}
		sources[filepath.ToSlash(f)] = b
	}
	return sources, nil
}

func filesOf(name string, takes func(file string) bool) ([]string, error) {
	name = cmp.Or(name, DefaultFile)
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) && name == DefaultFile {
		return nil, fmt.Errorf("there is no %s here: name a pipeline with -f FILE or -f FOLDER", DefaultFile)
	}
	if err != nil {
		return nil, fmt.Errorf("read the pipeline: %w", err)
	}
	folder, isFolder := Folder(name)
	switch {
	case info.IsDir():
		folder = name
	case isFolder:
	case !isHCLFile(name):
		return nil, fmt.Errorf("%s is not a pipeline: its name does not end in .hcl", name)
	case !takes(name) && filepath.Base(name) == LocalFile:
		return nil, fmt.Errorf("%s is not a pipeline: it has settings for the one beside it", name)
	case !takes(name):
		return nil, fmt.Errorf("%s is a test file, not a pipeline: redsi test %[1]s checks and runs it", name)
	default:
		return []string{filepath.Clean(name)}, nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("read the pipeline: %w", err)
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() && takes(e.Name()) && !isHidden(e.Name()) {
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("the folder %s has no *.hcl file", folder)
	}
	return files, nil
}

func isHCLFile(name string) bool { return strings.HasSuffix(name, ".hcl") }

func isHidden(name string) bool { return strings.HasPrefix(filepath.Base(name), ".") }

func IsPipeline(name string) bool { return isHCLFile(name) && !IsBeside(name) }

// IsBeside reports whether a file stands beside pipelines: tests and settings.
func IsBeside(name string) bool {
	return strings.HasSuffix(name, TestSuffix) || filepath.Base(name) == LocalFile
}

// Pipelines lists the names of pipeline files, DefaultFiles before the others.
func Pipelines(sources map[string][]byte) []string {
	names := slices.DeleteFunc(Keys(sources), func(name string) bool { return !IsPipeline(name) })
	order := func(name string) string {
		if _, isFolder := Folder(name); isFolder {
			return ""
		}
		return name
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(order(a), order(b)) })
	return names
}

// Beside resolves a path that a source names: relative to the source's folder.
func Beside(dir, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(dir, name)
}

func Dir(file string) string { return path.Dir(file) }

// MaxFile bounds the bytes of a file that an expression reads: they are evaluated, hashed and kept with every result.
const MaxFile = 8 << 20

// ReadFile reads a regular file of at most MaxFile bytes. It refuses a pipe, device or folder without reading it.
func ReadFile(name string) ([]byte, error) {
	return readRegular(name, MaxFile, "a download step with the file as its source brings it to the steps that read it")
}

// readRegular reads a file that a pipe or device cannot stand in for.
func readRegular(name string, most int64, instead string) ([]byte, error) {
	// Opening a pipe that nobody writes to would wait for ever.
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is a %s, not a regular file", name, filetype.Name(info.Mode()))
	}
	var b bytes.Buffer
	size := info.Size()
	if size <= most { // some files do not tell their size
		b.Grow(int(size) + bytes.MinRead)
		if size, err = b.ReadFrom(io.LimitReader(f, most+1)); err != nil {
			return nil, err
		}
	}
	if size > most {
		return nil, fmt.Errorf("%s has more than %d bytes, the most that a pipeline can hold: %s", name, most, instead)
	}
	return b.Bytes(), nil
}

func Keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
