package runs

import (
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/errtest"
)

func TestPermanentFailures(t *testing.T) {
	store := mem.New()
	key, part, other := artifacts.Sum([]byte("k")), artifacts.Sum([]byte("p")), artifacts.Sum([]byte("o"))
	at := func(minute int) time.Time { return time.Date(2026, 11, 23, 6, minute, 0, 0, time.UTC) }
	for _, f := range []Failure{
		{RunID: "r1", Key: key, Error: "first", Permanent: true, Outcome: Failed, Ended: at(1)},
		{RunID: "r2", Key: key, Error: "newest", Permanent: true, Outcome: Failed, Ended: at(3), Part: part},
		{RunID: "r2", Key: part, Error: "newest", Permanent: true, Outcome: Failed, Ended: at(3)},
		{RunID: "r3", Key: key, Error: "transient", Outcome: Failed, Ended: at(4)},
		{RunID: "r4", Key: key, Error: "cancelled", Permanent: true, Outcome: Cancelled, Ended: at(5)},
		{RunID: "r1", Key: other, Error: "other", Permanent: true, Outcome: Failed, Ended: at(9)},
	} {
		errtest.None(t, WriteFailure(t.Context(), store, f))
	}
	errtest.None(t, store.Records.Put(t.Context(), "failures/r9/"+key.Hex(), []byte("{")))
	found, err := PermanentFailures(t.Context(), store, map[artifacts.Digest]bool{key: true})
	if err != nil || len(found) != 1 || found[key].Times != 2 || found[key].Error != "newest" {
		t.Errorf("%+v, %v", found, err)
	}
	n := 0
	if err := Failures(t.Context(), store, "r2", func(f Failure) bool { n++; return true }); err != nil || n != 1 {
		t.Errorf("the part's own record alone has the log: %d, %v", n, err)
	}
}
