package stores_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/stores/web"
	"github.com/redsi/redsi/internal/system/testkit"
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
	testkit.None(t, err)
	return s, root
}

// rewrite gives a blob of the store in a folder other bytes.
func rewrite(t *testing.T, root string) func(d artifacts.Digest, data []byte) {
	return func(d artifacts.Digest, data []byte) {
		path := filepath.Join(root, "blobs", filepath.FromSlash(artifacts.BlobPath(d)))
		testkit.None(t, errors.Join(os.Chmod(path, 0o644), os.WriteFile(path, data, 0o644)))
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
			testkit.None(t, err)
			return Theirs{Store: s, Other: artifacts.Other{Reader: other, Name: "colleague"}, Rewrite: rewrite(t, root)}
		})
	})
	t.Run("strays", func(t *testing.T) {
		s, root := folder(t)
		strays(t, s, func(rel string, data []byte) {
			p := filepath.Join(root, filepath.FromSlash(rel))
			testkit.None(t, errors.Join(os.MkdirAll(filepath.Dir(p), 0o777), os.WriteFile(p, data, 0o666)))
		}, func(path string) []byte {
			b, err := os.ReadFile(path)
			testkit.None(t, err)
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
		testkit.None(t, err)
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

// strays checks that what others have put among the blobs and records of an empty
// store is named, is not a problem, hinders nobody and goes aside with its bytes. put
// stores bytes at a path below the store, read has those at a path that Check told.
func strays(t *testing.T, s artifacts.Store, put func(rel string, data []byte), read func(path string) []byte) {
	ctx := t.Context()
	testkit.None(t, s.Records.Create(ctx, "runs/1", []byte("{}")))
	testkit.None(t, testkit.Err(artifacts.PutBytes(ctx, s.Blobs, []byte("x"))))
	y := artifacts.BlobPath(artifacts.Sum([]byte("y")))
	paths := []string{"blobs/README", "blobs/ab/.DS_Store", "blobs/" + y[:3] + strings.ToUpper(y[3:]), "blobs/" + y + "~",
		"records/x.txt", "records/runs/a.json~", "records/runs/a b.json", "records/runs/%0a.json", "records/runs/B.json"}
	for _, p := range paths {
		put(p, []byte("of "+p))
	}
	for _, repair := range []bool{false, true} {
		r, err := artifacts.Check(ctx, s, artifacts.CheckOptions{Repair: repair})
		if err != nil || len(r.Problems) != 0 || r.Blobs != 1 || len(r.Strays) != len(paths) {
			t.Fatalf("Check = %+v, %v; want %d strays", r, err, len(paths))
		}
		for _, x := range r.Strays {
			if (x.Aside != "") != repair || !strings.Contains(x.String(), " bytes, neither blob nor record") {
				t.Errorf("repair %v: %s", repair, x)
			}
			i := slices.IndexFunc(paths, func(p string) bool { return strings.HasSuffix(x.Path, p) })
			if i < 0 {
				t.Fatalf("nobody put %s", x.Path)
			}
			if repair {
				if got := read(x.Aside); !bytes.Equal(got, []byte("of "+paths[i])) || !strings.HasSuffix(x.Aside, paths[i]) {
					t.Errorf("%s has %q", x.Aside, got)
				}
			}
		}
	}
	if r, err := artifacts.Check(ctx, s, artifacts.CheckOptions{}); err != nil || len(r.Strays)+len(r.Problems) != 0 || r.Blobs != 1 {
		t.Errorf("left: %+v, %v", r, err)
	}
	testkit.Deep(t, listRecords(t, s, ""), []string{"runs/1"}, "records")

	// A file where a folder of blobs or records belongs is a problem.
	z := []byte("z")
	put("blobs/"+artifacts.BlobPath(artifacts.Sum(z))[:2], []byte("?"))
	put("records/results", []byte("?"))
	r, err := artifacts.Check(ctx, s, artifacts.CheckOptions{Repair: true})
	if err != nil || len(r.Problems) != 2 || len(r.Strays) != 0 {
		t.Fatalf("Check = %+v, %v; want two problems", r, err)
	}
	for _, p := range r.Problems {
		if !p.Repaired || !strings.Contains(p.String(), " bytes in the place of the folder of ") || string(read(p.Aside)) != "?" {
			t.Errorf("%s", p)
		}
	}
	testkit.None(t, testkit.Err(artifacts.PutBytes(ctx, s.Blobs, z)))
	testkit.None(t, s.Records.Create(ctx, "results/1", []byte("{}")))
}
