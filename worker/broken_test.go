package worker_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/payload"
	"github.com/redsi/redsi/internal/tensor"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/worker"
)

// TestBroken: a worker whose card has failed says so, once, and hands back what it does; the
// step goes to another worker.
func TestBroken(t *testing.T) {
	b := idleBench(t, 2, payload.Codec{})
	var asked atomic.Int64
	fail := func(text string) error {
		if text == "unlucky" && asked.Add(1) == 1 {
			return step.Permanent(&tensor.Error{Op: "matmul", Message: "CUDA error: an illegal memory access was encountered"})
		}
		return nil
	}
	b.fail.Store(&fail)
	first := worker.New(b.c, b.activities(), worker.Options{Queues: []string{b.t.Name()}, CPU: 2})
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	w := b.start(`
step "split" "unlucky" {
  text  = "part "
  split = 1
}
step "text" "unlucky" {
  text  = "unlucky"
  after = [step.split.unlucky.out]
}
`, "1")
	select {
	case err := <-first.Broken():
		if !step.IsPoisoned(err) || !strings.Contains(err.Error(), "illegal memory access") {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
	}
	first.Stop()
	b.startWorker()
	if r, err := b.wait(w); err != nil || r.Ran != 2 {
		t.Fatal(r, err)
	}
	if n := b.count("unlucky"); n != 2 {
		t.Errorf("the step ran %d times", n)
	}
}

// TestFullCard: a step that finds its card full is tried once, and says what to change.
func TestFullCard(t *testing.T) {
	b := newBench(t)
	fail := func(string) error {
		return &tensor.Error{Op: "Linear", Message: "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 15.77 GiB of which 8.00 MiB is free."}
	}
	b.fail.Store(&fail)
	_, err := b.wait(b.start(`step "text" "large" { text = "large" }`, "1"))
	if err == nil || !strings.Contains(err.Error(), "20 MiB more were asked for, the card has 16 GiB") || !strings.Contains(err.Error(), "accumulate = 2") {
		t.Error(err)
	}
	if n := b.count("large"); n != 1 {
		t.Errorf("the step ran %d times", n)
	}
	select {
	case err := <-b.queue.Broken():
		t.Errorf("the worker is said to be broken: %v", err)
	default:
	}
}
