package stores_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
)

// check is one property of a store, tried on an empty one.
type check struct {
	name string
	test func(t *testing.T, s artifacts.Store)
}

var checks = []check{
	{"blob round trip", blobRoundTrip},
	{"blob put again", blobPutAgain},
	{"blob not there", blobNotThere},
	{"blob put that fails", blobPutFails},
	{"blob put cancelled", blobPutCancelled},
	{"blob missing in batches", blobMissing},
	{"blob list", blobList},
	{"blob delete", blobDelete},
	{"blob puts at once", blobConcurrent},
	{"blob close early", blobCloseEarly},
	{"record round trip", recordRoundTrip},
	{"record names", recordNames},
	{"record bad names", recordBadNames},
	{"record too large", recordTooLarge},
	{"record list", recordList},
	{"record put is atomic", recordPutAtomic},
	{"record create", recordCreate},
	{"record create race", func(t *testing.T, s artifacts.Store) {
		recordRace(t, s, func(name string, data []byte) error { return s.Records.Create(t.Context(), name, data) }, "")
	}},
	{"record replace", recordReplace},
	{"record delete", recordDelete},
	{"cancelled", cancelled},
	{"publish and look up", publishAndLookup},
	{"publish race", publishRace},
	{"release", release},
	{"publish race over what cannot be used", publishOverRace},
}

// suite checks that the stores which open returns, each empty, keep the contract
// of artifacts.Blobs and artifacts.Records.
func suite(t *testing.T, open func(t *testing.T) artifacts.Store) {
	run(t, open, checks)
	ofRecords := slices.DeleteFunc(slices.Clone(checks), func(c check) bool { return !strings.HasPrefix(c.name, "record ") })
	t.Run("leases", func(t *testing.T) { // are records in a place of their own
		run(t, func(t *testing.T) artifacts.Store {
			s := open(t)
			s.Records = s.Leases
			return s
		}, ofRecords)
	})
}

func run(t *testing.T, open func(t *testing.T) artifacts.Store, checks []check) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

func put(t *testing.T, s artifacts.Store, b []byte) artifacts.Digest {
	t.Helper()
	d, n, err := s.Blobs.Put(t.Context(), bytes.NewReader(b))
	if err != nil {
		t.Fatalf("Put of %d bytes: %v", len(b), err)
	}
	if want := artifacts.Sum(b); d != want || n != int64(len(b)) {
		t.Fatalf("Put = %s, %d; want %s, %d", d, n, want, len(b))
	}
	return d
}

func listBlobs(t *testing.T, ctx context.Context, s artifacts.Store) []artifacts.BlobInfo {
	t.Helper()
	var all []artifacts.BlobInfo
	for info, err := range s.Blobs.List(ctx) {
		if err != nil {
			t.Fatalf("List: %v", err)
		}
		all = append(all, info)
	}
	slices.SortFunc(all, func(a, b artifacts.BlobInfo) int { return a.Digest.Compare(b.Digest) })
	return all
}

func listRecords(t *testing.T, s artifacts.Store, prefix string) []string {
	t.Helper()
	var names []string
	for info, err := range s.Records.List(t.Context(), prefix) {
		if err != nil {
			t.Fatalf("List(%q): %v", prefix, err)
		}
		names = append(names, info.Name)
	}
	return names
}
