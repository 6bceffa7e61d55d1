package stores_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/stores/web"
	"github.com/redsi/redsi/internal/system/errtest"
)

func TestMemory(t *testing.T) {
	suite(t, func(*testing.T) artifacts.Store { return mem.New() })
	t.Run("others", func(t *testing.T) { others(t, friend) })
	t.Run("faulty", func(t *testing.T) { // without faults
		suite(t, func(*testing.T) artifacts.Store {
			s, _ := storetest.Faulty(mem.New())
			return s
		})
	})
}

// friend is a store in memory that gives other bytes for what was rewritten.
func friend(*testing.T) Theirs {
	s, faults := storetest.Faulty(mem.New())
	return Theirs{Store: s, Other: artifacts.Other{Reader: s.Reader(), Name: "friend"},
		Rewrite: func(artifacts.Digest, []byte) {
			for range 8 {
				faults.Add(storetest.BlobsOpen, storetest.Fault{Flip: true})
			}
		}}
}

// folder is a store in a new folder.
func folder(t *testing.T) (s artifacts.Store, root string) {
	t.Helper()
	root = t.TempDir()
	s, err := dir.Open(root)
	errtest.None(t, err)
	return s, root
}

// rewrite gives a blob of the store in a folder other bytes.
func rewrite(t *testing.T, root string) func(d artifacts.Digest, data []byte) {
	return func(d artifacts.Digest, data []byte) {
		path := filepath.Join(root, "blobs", filepath.FromSlash(artifacts.BlobPath(d)))
		if err := errors.Join(os.Chmod(path, 0o644), os.WriteFile(path, data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFolder(t *testing.T) {
	suite(t, func(t *testing.T) artifacts.Store {
		s, _ := folder(t)
		return s
	})
	t.Run("integrity", func(t *testing.T) {
		s, root := folder(t)
		integrity(t, s, rewrite(t, root))
	})
	t.Run("others", func(t *testing.T) {
		others(t, func(t *testing.T) Theirs {
			s, root := folder(t)
			other, err := dir.OpenReader(root)
			errtest.None(t, err)
			return Theirs{Store: s, Other: artifacts.Other{Reader: other, Name: "colleague"}, Rewrite: rewrite(t, root)}
		})
	})
	t.Run("strays", func(t *testing.T) {
		s, root := folder(t)
		strays(t, s, func(rel string, data []byte) {
			p := filepath.Join(root, filepath.FromSlash(rel))
			if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o777), os.WriteFile(p, data, 0o666)); err != nil {
				t.Fatal(err)
			}
		}, func(path string) []byte {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return b
		})
	})
}

// TestStaticHost: a host that serves the files of a store.
func TestStaticHost(t *testing.T) {
	others(t, func(t *testing.T) Theirs {
		s, root := folder(t)
		server := httptest.NewServer(http.StripPrefix("/paper", http.FileServer(http.Dir(root))))
		t.Cleanup(server.Close)
		other, err := web.Open(server.URL + "/paper")
		errtest.None(t, err)
		return Theirs{Store: s, Other: artifacts.Other{Reader: other, Name: "host/paper"}, Rewrite: rewrite(t, root)}
	})
}

// TestBucket tries a real server.
func TestBucket(t *testing.T) { bucket(t, storetest.MinIO(t)) }

// TestOtherServers tries those that users are told of.
func TestOtherServers(t *testing.T) { storetest.Others(t, bucket) }

func bucket(t *testing.T, server *storetest.Server) {
	suite(t, server.Store)
	t.Run("integrity", func(t *testing.T) {
		c := server.Config()
		integrity(t, server.Open(t, c), func(d artifacts.Digest, data []byte) { server.Rewrite(t, c, d, data) })
	})
	t.Run("strays", func(t *testing.T) {
		c := server.Config()
		strays(t, server.Open(t, c),
			func(rel string, data []byte) { server.PutObject(t, c.Bucket, c.Prefix+"/"+rel, data) },
			func(path string) []byte { return server.GetObject(t, path) })
	})
	server.Public(t) // and read without credentials
	t.Run("others", func(t *testing.T) {
		others(t, func(t *testing.T) Theirs {
			c := server.Config()
			public := c
			public.Credentials, public.Anonymous = nil, true
			return Theirs{Store: server.Open(t, c), Other: artifacts.Other{Reader: server.Reader(t, public), Name: c.Bucket + "/" + c.Prefix},
				Rewrite: func(d artifacts.Digest, data []byte) { server.Rewrite(t, c, d, data) }}
		})
	})
}
