package stores_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/errtest"
)

// strays checks that what others have put among the blobs and records of an empty
// store is named, is not a problem, hinders nobody and goes aside with its bytes. put
// stores bytes at a path below the store, read has those at a path that Check told.
func strays(t *testing.T, s artifacts.Store, put func(rel string, data []byte), read func(path string) []byte) {
	ctx := t.Context()
	errtest.None(t, s.Records.Create(ctx, "runs/1", []byte("{}")))
	errtest.None(t, errtest.Of(artifacts.PutBytes(ctx, s.Blobs, []byte("x"))))
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
	if got := listRecords(t, s, ""); !slices.Equal(got, []string{"runs/1"}) {
		t.Errorf("records %q", got)
	}

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
	if _, err := artifacts.PutBytes(ctx, s.Blobs, z); err != nil {
		t.Error(err)
	}
	if err := s.Records.Create(ctx, "results/1", []byte("{}")); err != nil {
		t.Error(err)
	}
}
