package open

import (
	"context"

	"github.com/redsi/redsi/artifacts"
)

// Other opens a store of somebody else, to be read only:
//
//	https://host/path, http://localhost:port/path   a static host, see package web
//	s3://bucket/prefix?anonymous=true&endpoint=…     a bucket; without credentials anonymous by itself
//	path/to/dir or file:///path/to/dir               a directory, on which nothing is created
//
// An address that is none is an error. Whether somebody answers there is not asked yet.
func Other(ctx context.Context, address string, o Options) (artifacts.Other, error) {
	s, err := Store(ctx, address, o)
	return artifacts.Other{Store: s, Name: address}, err
}
