package lockfile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/corpora/fetch"
)

// List pins the sources that a pattern stands for.
type List struct {
	Pattern string   `json:"pattern"`
	Sources []string `json:"sources"`
}

// list returns the pinned sources of a pattern; nil: none.
func (f *File) list(pattern string) []string {
	i := slices.IndexFunc(f.Lists, func(l List) bool { return l.Pattern == pattern })
	if i < 0 {
		return nil
	}
	return f.Lists[i].Sources
}

// PinList pins what a pattern stands for, replacing an earlier list, and writes the file.
func PinList(path string, l List) error {
	return change(path, func(f *File) (bool, error) {
		f.Lists = replaced(f.Lists, l, func(l List) string { return l.Pattern })
		return true, nil
	})
}

// Module pins the commit of a module's repository.
type Module struct {
	Source string `json:"source"` // git::URL?ref=REF, without a folder in it
	Commit string `json:"commit"`
	Tree   string `json:"tree"` // digest of the commit's files
}

// Module returns the pin of a module's repository.
func (f *File) Module(source string) (Module, bool) {
	i := slices.IndexFunc(f.Modules, func(m Module) bool { return m.Source == source })
	if i < 0 {
		return Module{}, false
	}
	return f.Modules[i], true
}

// PinModule pins a module's repository, replacing an earlier pin, and writes the file.
func PinModule(path string, m Module) error {
	return change(path, func(f *File) (bool, error) {
		f.Modules = replaced(f.Modules, m, func(m Module) string { return m.Source })
		return true, nil
	})
}

// replaced is a sorted list with x in place of what has the same name.
func replaced[T any](list []T, x T, name func(T) string) []T {
	list = append(slices.DeleteFunc(list, func(old T) bool { return name(old) == name(x) }), x)
	slices.SortFunc(list, func(a, b T) int { return strings.Compare(name(a), name(b)) })
	return list
}

// Listed are the sources that a pattern stands for. The server is asked once, for the lock file.
func (s *Sources) Listed(ctx context.Context, pattern string) ([]string, error) {
	for _, f := range []*File{s.Lock, s.near} {
		if list := f.list(pattern); list != nil {
			return list, nil
		}
	}
	if s.path == "" {
		return nil, fmt.Errorf("what %s stands for is not pinned in %s: redsi plan pins it where the pipeline is", pattern, Name)
	}
	list, err := fetch.List(ctx, pattern)
	if err != nil {
		return nil, err
	}
	l := List{pattern, list}
	s.Lock.Lists = append(s.Lock.Lists, l)
	return list, PinList(s.path, l)
}

// Relist says which sources a pattern stands for now, which of them are new, and which are gone.
func (l List) Relist(ctx context.Context) (now List, added, gone []string, err error) {
	now = List{Pattern: l.Pattern}
	if now.Sources, err = fetch.List(ctx, l.Pattern); err != nil {
		return now, nil, nil, err
	}
	return now, without(now.Sources, l.Sources), without(l.Sources, now.Sources), nil
}

// without are those of sorted lists that are not in other.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool {
		_, found := slices.BinarySearch(other, s)
		return found
	})
}
