package environment

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

// Package is a package that is installed in an environment, for people.
type Package struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Licence string `json:"licence,omitempty"` // as its metadata names it
}

// String is such as "numpy 2.0.1 (BSD-3-Clause)".
func (p Package) String() string {
	text := p.Name + " " + p.Version
	if p.Licence != "" {
		text += " (" + p.Licence + ")"
	}
	return text
}

// Sentence names packages, at most n of them.
func Sentence(list []Package, n int) string {
	return words.And(lists.Map(list, Package.String), n)
}

// ListName is the name under which a result keeps the packages of its environment.
const ListName = "environment"

// ListOf returns the file in which a result keeps the packages of its environment; ok is false if it had none.
func ListOf(r *artifacts.Result) (f artifacts.File, ok bool) {
	if r == nil {
		return f, false
	}
	for _, f := range r.Kept {
		if f.Name == ListName {
			return f, true
		}
	}
	return f, false
}

// ReadList reads the file that ListOf returns.
func ReadList(ctx context.Context, f artifacts.File, open func(context.Context, artifacts.Digest) (io.ReadCloser, error)) (list []Package, err error) {
	r, err := open(ctx, f.Digest)
	if err != nil {
		return nil, err
	}
	err = json.NewDecoder(r).Decode(&list)
	return list, errors.Join(err, r.Close())
}
