//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/host/rates"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/fakecard"
	"github.com/redsi/redsi/internal/model/trial"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestMain: the test's program is the bench, where it is started as one, and a piece of it; else it has a card of software.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == pieceArg || os.Args[1] == "-only") {
		workloads["test-parts"] = testParts
		main()
	}
	if err := fakecard.Install(); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// quickModel writes a small model of random numbers where card.py would; folder is the bench's.
func quickModel(t *testing.T, folder, kind string) (model string) {
	t.Helper()
	dir := filepath.Join(folder, "card-quick-"+kind+"-weights2")
	model = filepath.Join(dir, "model")
	testkit.None(t, os.MkdirAll(model, 0o755))
	tensor.SetNumThreads(1)
	sizes := rates.Shape{Vocabulary: 32128, Width: 16, FF: 32, Heads: 2, Layers: 2}
	var err error
	if kind == "bert" {
		err = writeEncoder(model, sizes)
	} else {
		if kind == "atomic" {
			sizes.Vocabulary += quickSizes.documents
		}
		config := trial.Config(sizes)
		config.DKV = 8
		var m *seq2seq.Model
		if m, err = seq2seq.Init(config, 1, tensor.CPU); err == nil {
			err = m.Save(model)
			m.Close()
		}
	}
	testkit.None(t, errors.Join(err, os.WriteFile(filepath.Join(dir, "done"), nil, 0o644)))
	return model
}

// TestCardWorkloads: a slice of each workload, on a card of software, does what it says and finds what the processor finds.
func TestCardWorkloads(t *testing.T) {
	folder := t.TempDir()
	models := map[string]string{}
	for _, kind := range []string{"train", "atomic", "bert"} {
		models[kind] = quickModel(t, folder, kind)
	}
	for _, c := range []struct {
		piece, model string
		work         int
	}{
		{"card-train", "train", quickSizes.updates}, {"card-products", "train", quickSizes.updates},
		{"beam", "train", quickSizes.queries}, {"trie", "train", quickSizes.queries},
		{"atomic", "atomic", quickSizes.queries}, {"bert", "bert", quickSizes.texts},
	} {
		found := map[string]string{}
		for _, device := range []string{"cpu", "cuda:0"} {
			before := tensor.Live()
			w, err := onDevice([]string{"-quick", "-device=" + device, "-dtype=fp32", models[c.model]}, workloads[c.piece])
			testkit.None(t, err, c.piece, device)
			if w.warm != nil {
				err = w.warm()
			}
			for range 2 {
				testkit.None(t, err, c.piece, device)
				var work float64
				if work, err = w.run(); work != float64(c.work) {
					t.Errorf("%s on %s: a slice of %g, want %d", c.piece, device, work, c.work)
				}
			}
			found[device] = w.check
			if w.graphs != nil {
				checkGraphs(t, device, w.graphs())
			}
			w.close()
			testkit.Is(t, tensor.Live(), before, c.piece, device)
		}
		testkit.Is(t, found["cpu"], found["cuda:0"], c.piece)
	}
}

// checkGraphs: of a training on a card that can record, as the one of software can, most updates are replayed.
func checkGraphs(t *testing.T, device string, g *graphs) {
	t.Helper()
	if device == "cpu" {
		if g != nil {
			t.Errorf("graphs on the processor: %+v", g)
		}
		return
	}
	if updates := int64((warmTraining + 2) * quickSizes.updates); g.Recorded == 0 || g.Replayed == 0 || g.Replayed+g.Single != updates || g.Failed != "" {
		t.Errorf("%+v of %d updates", g, updates)
	}
}

// TestSingle: a training that is to ask for operation by operation replays nothing.
func TestSingle(t *testing.T) {
	w, err := onDevice([]string{"-quick", "-dtype=fp32", "-single", quickModel(t, t.TempDir(), "train")}, cardTrain)
	testkit.None(t, err)
	defer w.close()
	testkit.None(t, testkit.Err(w.run()))
	if got, want := *w.graphs(), (graphs{Single: int64(quickSizes.updates)}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestCardLines: lines of a card by the whole bench on the processor, with our own side in the place of transformers'.
func TestCardLines(t *testing.T) {
	e := &env{ctx: context.Background(), dir: t.TempDir(), quick: true, pairs: 1, cores: 1, card: "cpu", peerTime: time.Nanosecond}
	for _, kind := range []string{"train", "atomic", "bert"} {
		quickModel(t, e.dir, kind)
	}
	measured := 0
	for _, l := range cardLines {
		if strings.HasPrefix(l.name, "cuda/train_") && !strings.HasPrefix(l.name, "cuda/train_base_vs_b") {
			continue // as small as each other, and with one peer
		}
		testkit.None(t, l.needs(e))
		command, err := l.peer.command(e)
		testkit.None(t, err)
		if command[0] == machinePython() {
			l.peer, l.others = l.ours, nil
		}
		rows, err := measureAlone(e, l)
		if err != nil || len(rows) != 1 {
			t.Fatalf("%s: %d rows: %v", l.name, len(rows), err)
		}
		r := rows[0]
		if r.Name != l.name || !(r.Ours > 0) || !(r.Peer > 0) || !(r.Ratio > 0) {
			t.Errorf("%+v", r)
		}
		if want := map[bool]float64{true: float64(quickSizes.queries)}[l.toEnd]; r.OursOf != want || r.PeerOf != want {
			t.Errorf("%s: of %g and %g, want %g", l.name, r.OursOf, r.PeerOf, want)
		}
		measured++
	}
	if measured < 8 {
		t.Errorf("%d lines were measured", measured)
	}
}

// TestSizes: what transformers is measured with is as much as ours.
func TestSizes(t *testing.T) {
	script := goldens.Text(t, "peers/card.py")
	for name, s := range map[string]sizes{"FULL": paperSizes, "QUICK": quickSizes} {
		want := fmt.Sprintf("\n%s = types.SimpleNamespace(batch=%d, batches=%d, updates=%d, queries=%d, documents=%d, ",
			name, s.batch, s.batches, s.updates, s.queries, s.documents)
		testkit.Says(t, strings.ReplaceAll(string(script), "109_739", "109739"), want)
	}
}

// TestFlops: products are counted in updates or in operations, and arguments that are neither are errors, as is a model that is none.
func TestFlops(t *testing.T) {
	model := quickModel(t, t.TempDir(), "train")
	work := func(piece string, args ...string) (float64, error) {
		w, err := onDevice(append([]string{"-quick", "-device=cpu", "-dtype=fp32"}, args...), workloads[piece])
		if err != nil {
			return 0, err
		}
		defer w.close()
		return w.run()
	}
	operations, err := work("card-products", "-flops", model)
	testkit.None(t, err)
	if each := operations / float64(quickSizes.updates); each < 1e6 {
		t.Errorf("%g operations an update", each)
	}
	large, err := work("card-large", model)
	if n := float64(quickSizes.square); err != nil || large != 20*2*n*n*n {
		t.Errorf("%g operations: %v", large, err)
	}
	for _, args := range [][]string{{"-hours", model}, {"-dtype=int4", model}, {"-device=tpu", model}, {filepath.Join(model, "none")}} {
		testkit.Some(t, testkit.Err(work("card-products", args...)), args)
	}
}

// TestRefused: what a line of a card needs is said, with 2, before anything is measured.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ card, want string }{
		{"", "libtorch finds no GPU here"}, {"cpu", "add -quick"},
	} {
		args := []string{"-only", "cuda/..."}
		if c.card != "" { // else the flag's default
			args = append(args, "-card", c.card)
		}
		command := exec.Command(os.Args[0], args...)
		command.Env = append(os.Environ(), "REDSI_DEPS="+t.TempDir(), "REDSI_CUDA=off")
		out, err := command.CombinedOutput()
		if command.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), c.want) {
			t.Errorf("-card %q: %v: %s", c.card, err, out)
		}
	}
}
