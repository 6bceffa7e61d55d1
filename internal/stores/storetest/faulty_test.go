package storetest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
)

// call makes one call of m and returns its error.
func call(ctx context.Context, s artifacts.Store, m storetest.Method, d artifacts.Digest) (err error) {
	switch m {
	case storetest.BlobsPut:
		_, _, err = s.Blobs.Put(ctx, bytes.NewReader([]byte("new")))
	case storetest.BlobsOpen:
		var rc io.ReadCloser
		if rc, err = s.Blobs.Open(ctx, d); err == nil {
			_, err = io.Copy(io.Discard, rc)
		}
	case storetest.BlobsMissing:
		_, err = s.Blobs.Missing(ctx, []artifacts.Digest{d})
	case storetest.BlobsList:
		for _, err = range s.Blobs.List(ctx) {
		}
	case storetest.BlobsDelete:
		err = s.Blobs.Delete(ctx, d)
	case storetest.RecordsGet:
		_, err = s.Records.Get(ctx, "runs/1")
	case storetest.RecordsCreate:
		err = s.Records.Create(ctx, "runs/2", []byte("{}"))
	case storetest.RecordsPut:
		err = s.Records.Put(ctx, "runs/2", []byte("{}"))
	case storetest.RecordsList:
		for _, err = range s.Records.List(ctx, "") {
		}
	case storetest.RecordsReplace:
		err = s.Records.Replace(ctx, "runs/1", []byte(`{"a":1}`), []byte(`{"a":1}`))
	case storetest.RecordsDelete:
		err = s.Records.Delete(ctx, "runs/1")
	}
	return err
}

func store(t *testing.T) (artifacts.Store, *storetest.Faults, artifacts.Digest) {
	t.Helper()
	base := mem.New()
	d := storetest.Put(t, base, []byte("content"))
	testkit.None(t, base.Records.Put(t.Context(), "runs/1", []byte(`{"a":1}`)))
	s, faults := storetest.Faulty(base)
	return s, faults, d
}

func TestFaults(t *testing.T) {
	broken := errors.New("broken")
	for _, m := range storetest.Methods {
		for _, done := range []bool{false, true} {
			s, faults, d := store(t)
			faults.Add(m, storetest.Fault{}, storetest.Fault{Err: broken, Done: done})
			testkit.None(t, call(t.Context(), s, m, d), m)
			testkit.Deep(t, faults.Pending(), []storetest.Method{m}, m)
			testkit.ErrIs(t, call(t.Context(), s, m, d), broken, m, done)
			if len(faults.Pending()) != 0 || faults.Calls(m) != 2 {
				t.Errorf("%s: pending %v, %d calls", m, faults.Pending(), faults.Calls(m))
			}
		}
		s, faults, d := store(t)
		ctx, cancel := context.WithCancel(t.Context())
		faults.Add(m, storetest.Fault{Before: cancel})
		testkit.ErrIs(t, call(ctx, s, m, d), context.Canceled, m)
	}
}

func TestDataFaults(t *testing.T) {
	s, faults, d := store(t)
	var bad *artifacts.IntegrityError
	for _, f := range []storetest.Fault{{Torn: 3}, {Flip: true}, {Flip: true, FlipAt: 6}} {
		faults.Add(storetest.BlobsOpen, f)
		if err := call(t.Context(), s, storetest.BlobsOpen, d); !errors.As(err, &bad) {
			t.Errorf("Open with %+v: %v", f, err)
		}
	}
	faults.Add(storetest.BlobsPut, storetest.Fault{Torn: 2})
	testkit.ErrIs(t, call(t.Context(), s, storetest.BlobsPut, d), io.ErrUnexpectedEOF, "torn Put")
	if missing, err := s.Blobs.Missing(t.Context(), []artifacts.Digest{artifacts.Sum([]byte("new"))}); err != nil || len(missing) != 1 {
		t.Errorf("a torn Put left the blob: %v", err)
	}
	for _, m := range []storetest.Method{storetest.BlobsOpen, storetest.RecordsGet} {
		faults.Add(m, storetest.Fault{Lost: true})
		testkit.ErrIs(t, call(t.Context(), s, m, d), artifacts.ErrNotExist, m)
	}
	faults.Add(storetest.BlobsMissing, storetest.Fault{Lost: true})
	if missing, err := s.Blobs.Missing(t.Context(), []artifacts.Digest{d}); err != nil || len(missing) != 1 {
		t.Errorf("Missing, lost: %v, %v", missing, err)
	}
	faults.Add(storetest.RecordsGet, storetest.Fault{Flip: true, FlipAt: 1}, storetest.Fault{Torn: 2})
	for _, want := range []string{`{#a":1}`, `{"`} {
		if got, err := s.Records.Get(t.Context(), "runs/1"); err != nil || string(got) != want {
			t.Errorf("Get = %q, %v; want %q", got, err, want)
		}
	}
}
