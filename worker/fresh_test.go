package worker_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestFresh: a result that is too old is made again, and what reads it is a hit if its bytes are the same.
func TestFresh(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	src := func(text string) string {
		return fmt.Sprintf(`
step "text" "listing" {
  text  = "listing"
  fresh = "24h"
}
step "%s" "reads" {
  text  = "reads"
  after = step.text.listing.out
}
`, text)
	}
	b.run(src("text"), "1")
	if hit, ran := b.run(src("text"), "2"); hit != 2 || ran != 0 {
		t.Fatalf("while it is fresh: %d hit, %d ran", hit, ran)
	}
	age := func(by time.Duration) {
		t.Helper()
		res := b.result(src("text"), "step.text.listing")
		res.Finished = res.Finished.Add(-by)
		errtest.None(t, artifacts.DropResult(context.Background(), b.store, res.Key))
		_, _, err := artifacts.Publish(context.Background(), artifacts.Alone(b.store), *res)
		errtest.None(t, err)
	}
	age(23 * time.Hour)
	if hit, ran := b.run(src("text"), "3"); hit != 2 || ran != 0 {
		t.Fatalf("an hour before it is no more: %d hit, %d ran", hit, ran)
	}
	age(2 * time.Hour)
	if hit, ran := b.run(src("short"), "4"); hit != 0 || ran != 2 { // as a batch and by itself
		t.Fatalf("with another reader: %d hit, %d ran", hit, ran)
	}
	age(25 * time.Hour)
	if hit, ran := b.run(src("text"), "5"); hit != 1 || ran != 1 {
		t.Fatalf("when it is no more: %d hit, %d ran", hit, ran)
	}
	if hit, ran := b.run(src("text"), "6"); hit != 2 || ran != 0 || b.count("listing") != 3 {
		t.Fatalf("made again: %d hit, %d ran; %d times", hit, ran, b.count("listing"))
	}
}
