// Package storage is as much of Google's storage client as Temporal's server names, and does nothing.
package storage

import (
	"context"
	"errors"
	"io"

	"google.golang.org/api/option"
)

const ScopeFullControl = "https://www.googleapis.com/auth/devstorage.full_control"

var errLeftOut = errors.New("this server was built without Google's storage")

type (
	Client         struct{}
	BucketHandle   struct{}
	ObjectHandle   struct{}
	ObjectIterator struct{}
	Reader         struct{ io.ReadCloser }
	Writer         struct{ io.WriteCloser }
	Query          struct{ Prefix string }
	BucketAttrs    struct{}
	ObjectAttrs    struct{ Name string }
)

func NewClient(context.Context, ...option.ClientOption) (*Client, error) { return nil, errLeftOut }

func (*Client) Bucket(string) *BucketHandle                           { return nil }
func (*BucketHandle) Object(string) *ObjectHandle                     { return nil }
func (*BucketHandle) Objects(context.Context, *Query) *ObjectIterator { return nil }
func (*BucketHandle) Attrs(context.Context) (*BucketAttrs, error)     { return nil, errLeftOut }
func (*ObjectHandle) NewWriter(context.Context) *Writer               { return nil }
func (*ObjectHandle) NewReader(context.Context) (*Reader, error)      { return nil, errLeftOut }
func (*ObjectHandle) Attrs(context.Context) (*ObjectAttrs, error)     { return nil, errLeftOut }
func (*ObjectIterator) Next() (*ObjectAttrs, error)                   { return nil, errLeftOut }
func (*Writer) CloseWithError(error) error                            { return errLeftOut }
