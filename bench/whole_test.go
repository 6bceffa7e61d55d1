//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

// testParts is a workload whose slice is as much as its argument says; of 6 it says that it replays graphs.
func testParts(p *placed, w *workload) error {
	text, path, _ := strings.Cut(p.folder, ",")
	n, err := strconv.ParseFloat(text, 64)
	w.run = func() (float64, error) { return n, appendTo(path, text) }
	if n == 6 {
		w.graphs = func() *graphs { return &graphs{Recorded: 3, Replayed: 40, Single: 2} }
	}
	return err
}

// appendTo adds text to a file, where one is named.
func appendTo(path, text string) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// measureAlone makes what a line needs, and measures it.
func measureAlone(e *env, l line) ([]result, error) {
	m := e.prepareAll([]line{l})[0]
	if err := errors.Join(m.errs...); err != nil {
		return nil, err
	}
	return measureLine(e, l, m.commands)
}

func partsOf(n string, file ...string) side {
	return side{command: func(*env) ([]string, error) {
		return ours("test-parts", onProcessor[0], strings.Join(append([]string{n}, file...), ",")), nil
	}}
}

// TestWhole: beside a whole work the peer does parts while it has time, one at least, and no more than there are. There is
// no second round where the time is over.
func TestWhole(t *testing.T) {
	for _, c := range []struct {
		peer   string
		time   time.Duration
		want   float64
		slices string // after one of each that does not count
	}{{"2", 0, 2, "62"}, {"2", time.Hour, 6, "62226222"}, {"4", time.Hour, 8, "644644"}, {"9", time.Hour, 9, "6969"}} {
		done := filepath.Join(t.TempDir(), "slices")
		e := &env{ctx: context.Background(), pairs: 2, cores: 1, peerTime: c.time}
		rows, err := measureAlone(e, line{name: "whole", value: perUnit, sliced: true, toEnd: true, unlike: true, ours: partsOf("6", done), peer: partsOf(c.peer, done)})
		if err != nil || len(rows) != 1 {
			t.Fatalf("%d rows: %v", len(rows), err)
		}
		if r := rows[0]; r.OursOf != 6 || r.PeerOf != c.want {
			t.Errorf("%s at a time for %v: of %g and %g, want 6 and %g", c.peer, c.time, r.OursOf, r.PeerOf, c.want)
		}
		data, err := os.ReadFile(done)
		if got := strings.TrimPrefix(string(data), "6"+c.peer); err != nil || got != c.slices {
			t.Errorf("slices %s, want %s: %v", got, c.slices, err)
		}
	}
}

// TestOnce: lines that are measured once compare several values of one run, and others run anew.
func TestOnce(t *testing.T) {
	done := filepath.Join(t.TempDir(), "done")
	printed := func(script string) side {
		return side{command: func(*env) ([]string, error) { return []string{"sh", "-c", script, done}, nil }}
	}
	one, twice := printed(`echo ran >> "$0"; echo '{"seconds": 3, "processor": 2}'`), printed(`echo '{"seconds": 6, "processor": 4}'`)
	e := &env{ctx: context.Background(), pairs: 1, cores: 1, ran: map[string]sample{}}
	for _, l := range []line{
		{name: "time", value: seconds, once: true, ours: one, peer: twice},
		{name: "processor", value: processorTime, once: true, ours: one, peer: twice},
		{name: "again", value: seconds, ours: one, peer: twice},
	} {
		if rows, err := measureAlone(e, l); err != nil || len(rows) != 1 || rows[0].Ratio != 2 {
			t.Errorf("%s: %+v, %v", l.name, rows, err)
		}
	}
	if runs, err := os.ReadFile(done); err != nil || string(runs) != "ran\nran\n" {
		t.Errorf("%q, %v", runs, err)
	}
}

// TestEnough: a line ends when each side's three best are near, or by its number of pairs or its time at the latest.
func TestEnough(t *testing.T) {
	for _, c := range []struct {
		ours, peer []float64
		value      value
		took       float64
		want       bool
		low, high  float64
	}{
		{[]float64{1, 1}, []float64{2, 2}, seconds, 0, false, 2, 2},
		{[]float64{1.02, 1, 1.01}, []float64{2, 2.04, 2.02}, seconds, 0, true, 2 / 1.02, 2.04},
		{[]float64{1.02, 1, 1.25}, []float64{2, 2, 2}, seconds, 0, false, 2 / 1.25, 2},
		{[]float64{1.02, 1, 1.25}, []float64{2, 2, 2}, seconds, patience + 1, true, 2 / 1.25, 2},
		{[]float64{1.02, 9, 1, 1.04}, []float64{2, 2, 8, 2}, seconds, 0, true, 2 / 1.04, 2},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, []float64{2, 2, 2, 2, 2, 2, 2, 2, 2}, seconds, 0, true, 2. / 3, 2},
		{[]float64{1, 1.02, 1.04}, []float64{2, 2, 2}, throughput, 0, true, 2 / 1.04, 2},
	} {
		var sides [2][]sample
		for i := range c.ours {
			sides[0] = append(sides[0], sample{Seconds: c.ours[i], Work: 1})
			sides[1] = append(sides[1], sample{Seconds: c.peer[i], Work: 1})
		}
		l := line{value: c.value}
		testkit.Is(t, l.enough(&env{pairs: agreeing}, sides, c.took), c.want, c.ours, c.peer)
		low, high := l.interval(sides)
		if math.Abs(low-c.low) > 1e-9 || math.Abs(high-c.high) > 1e-9 {
			t.Errorf("%v beside %v: from %g to %g, want %g and %g", c.ours, c.peer, low, high, c.low, c.high)
		}
	}
}

// TestShared: in a folder that stays, what comes after a first run finds it there, and a first run begins anew.
func TestShared(t *testing.T) {
	dir, runs := filepath.Join(t.TempDir(), "dag"), filepath.Join(t.TempDir(), "runs")
	program := filepath.Join(t.TempDir(), "program")
	testkit.None(t, os.WriteFile(program, []byte("#!/bin/sh\nmkdir -p out; touch out/1 out/2; test -e ran; echo $? >> "+runs+"\n"), 0o755))
	for _, c := range []struct{ in, what, want string }{
		{dir, "again", "10"}, {dir, "plan", "0"}, {dir, "first", "1"}, {dir, "again", "0"}, {"", "again", "10"},
	} {
		testkit.None(t, testkit.Err(runDAG([]string{"-in=" + c.in, "snakemake", program, "wide", "2", c.what})))
		data, err := os.ReadFile(runs)
		if got := strings.ReplaceAll(string(data), "\n", ""); err != nil || got != c.want {
			t.Errorf("%s in %q: ran %q, want %q: %v", c.what, c.in, got, c.want, err)
		}
		testkit.None(t, os.Remove(runs))
	}
}

// TestTakes: what `make bench` measures is known to take 25 minutes at most, and no line is without a time.
func TestTakes(t *testing.T) {
	all := 0.0
	lines, err := choose(allLines(), "")
	testkit.None(t, err)
	for _, l := range lines {
		if l.takes == 0 {
			t.Errorf("it is not known what %s takes", l.name)
		}
		all += l.takes
	}
	if all > 25*60 {
		t.Errorf("%d lines take %.0f s together", len(lines), all)
	}
}

// TestTable: the page has the table of the rows that are kept, but for what has become old since it was written.
func TestTable(t *testing.T) {
	t.Chdir("..")
	page := string(goldens.Text(t, tablePage))
	rows, err := readRows(resultsFile)
	testkit.None(t, err)
	made, err := withTable(page, rows, func(revision string) bool {
		_, after, _ := strings.Cut(page, "revision "+revision+",")
		line, _, _ := strings.Cut(after, "\n")
		return strings.Contains(line, oldMark)
	})
	testkit.None(t, err)
	testkit.Deep(t, made, page)
	for _, r := range rows {
		if !slices.ContainsFunc(allLines(), func(l line) bool { return r.Name == l.name || r.Name == l.name+"_memory" }) {
			t.Errorf("%s has a row, and there is no such line", r.Name)
		}
	}
}

// TestPeers: the fastest peer is the row's, each other one stands beside it, a peer far behind is measured once, and a
// row below its floor is an error that names it, after all lines were measured.
func TestPeers(t *testing.T) {
	t.Chdir(t.TempDir())
	testkit.Write(t, resultsFile, "")
	testkit.Write(t, tablePage, tableBegin+tableEnd)
	said := func(is string, seconds float64, file ...string) side {
		script := fmt.Sprintf(`echo %s >> "$0"; echo '{"seconds": %g, "work": 1, "is": "%s"}'`, is, seconds, is)
		return side{command: func(*env) ([]string, error) { return []string{"sh", "-c", script, filepath.Join(file...)}, nil }}
	}
	ran := filepath.Join(t.TempDir(), "ran")
	lines := []line{
		{name: "low", value: seconds, target: 3, ours: said("ours", 1, ran), peer: said("eager", 2.1, ran), others: []side{said("slow", 9, ran), said("compiled", 2, ran)}},
		{name: "high", value: seconds, target: 1, ours: said("ours", 1, ran), peer: said("eager", 2, ran)},
	}
	e := &env{ctx: context.Background(), pairs: agreeing, cores: 1, ran: map[string]sample{}}
	testkit.ErrSays(t, measureAll(e, lines), "below the floor: low;")
	rows, err := readRows(resultsFile)
	testkit.None(t, err)
	if len(rows) != 2 || rows[0].Against != "compiled" || rows[0].Ratio != 2 || rows[0].Threads != 1 || rows[0].Date == "" ||
		!slices.Equal(rows[0].Others, []other{{"eager", 2.1, 2.1}, {"slow", 9, 9}}) || rows[1].Pairs != 2 {
		t.Errorf("%+v", rows)
	}
	text := string(goldens.Text(t, ran))
	testkit.Is(t, strings.Count(text, "slow"), 1, "ran", text)
	testkit.Is(t, strings.Count(text, "compiled"), 3, "ran", text)
	made := table(append(lines, line{name: "new"}), rows, func(string) bool { return true })
	for _, want := range []string{"| `low` |  | 3 | 1 / 2 s | 2.00, **below** | compiled; eager: 2.10; slow: 9.00 | [1] |", "| `new` |  |  |  | not measured |", oldMark} {
		testkit.Says(t, made, want)
	}
}

// TestRows: a row tells how much of a work it is of and what was replayed; a quick measurement is not kept.
func TestRows(t *testing.T) {
	t.Chdir(t.TempDir())
	testkit.None(t, os.Mkdir(filepath.Dir(resultsFile), 0o755))
	testkit.Write(t, tablePage, tableBegin+tableEnd)
	all := []line{
		{name: "slices", value: flops, sliced: true, unlike: true, ours: partsOf("6"), peer: partsOf("2")},
		{name: "whole", value: perUnit, sliced: true, toEnd: true, unlike: true, ours: partsOf("4"), peer: partsOf("4")},
	}
	e := &env{ctx: context.Background(), pairs: 1, cores: 1, quick: true}
	testkit.None(t, measureAll(e, all[:1]))
	if data, err := os.ReadFile(resultsFile); err == nil {
		t.Fatalf("a quick run left %s", data)
	}
	e.quick = false
	for _, lines := range [][]line{all, all[1:]} { // the second replaces the first one's row, and leaves the other
		testkit.None(t, measureAll(e, lines))
	}
	got := goldens.Lines[map[string]any](t, resultsFile)
	for _, row := range got {
		for _, measured := range []string{"ours", "peer", "ratio"} {
			if v, ok := row[measured].(float64); !ok || v <= 0 {
				t.Errorf("%s is %v", measured, row[measured])
			}
			delete(row, measured)
		}
		for _, of := range []string{"date", "machine", "threads"} {
			if row[of] == nil {
				t.Errorf("%s of %v is not there", of, row)
			}
			delete(row, of)
		}
	}
	want := []map[string]any{
		{"name": "slices", "unit": "TFLOP/s", "graphs": map[string]any{"recorded": 3.0, "replayed": 40.0, "single": 2.0}},
		{"name": "whole", "unit": "ms", "ours_of": 4.0, "peer_of": 4.0},
	}
	testkit.Deep(t, got, want)
	for want, r := range map[string]result{
		"": {}, "  2.40 to 2.60, 4 pairs": {Pairs: 4, Low: 2.4, High: 2.6}, "  of 7830 and 448": {OursOf: 7830, PeerOf: 448},
		"  3 graphs, replayed 40 times; 2 updates without":      {Graphs: &graphs{3, 40, 2, ""}},
		"  0 graphs, replayed 0 times; 9 updates without: full": {Graphs: &graphs{0, 0, 9, "full"}},
	} {
		testkit.Is(t, r.notes(), want)
	}
}

// TestTraffic: a client that is refused comes again after the time that it is told, and its answer counts from the first try on.
func TestTraffic(t *testing.T) {
	var tries atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tries.Add(1) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, `{"results": [{"document": "7"}, {"document": "3"}]}`)
	}))
	defer s.Close()
	got, err := site{s.URL + "/", s.Client()}.byAll()
	testkit.None(t, err)
	if n := tries.Load(); n != clients*askedQuestions+1 || got.Refused != 1 || got.P50 > got.P99 || got.Rate <= 0 || got.Rate > clients*askedQuestions {
		t.Errorf("%+v after %d tries", got, n)
	}
	tries.Store(0)
	before := time.Now()
	if found, refused, err := (site{s.URL + "/", s.Client()}).ask(0); err != nil || found != "7 3" || refused != 1 || time.Since(before) < time.Second {
		t.Errorf("%s, refused %d times, after %s: %v", found, refused, time.Since(before), err)
	}
	r := result{OursTraffic: &traffic{1, 2, 3, 4}, PeerTraffic: &traffic{5, 6, 7, 8}}
	if want := "  half within 1 / 5 ms; 3 / 7 answers a second; 4 / 8 refused"; r.notes() != want {
		t.Errorf("%q, want %q", r.notes(), want)
	}
}
