package kmeans

import (
	"context"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/system/testkit"
)

func TestThreadsAndProcessorsChangeNothing(t *testing.T) {
	s := sklearnSets(t)[1]
	s.Rows = 5 * stripe / 2
	m := s.data(1)
	for double, want := range map[bool]uint64{false: 0x40efc114b35da000, true: 0x40efc114b492b6dc} {
		var first *Result
		for _, threads := range []int{1, 2, 3, 7} {
			r, err := Fit(context.Background(), m, Options{Clusters: 10, Seed: 5, Double: double, Threads: threads})
			testkit.None(t, err)
			if first == nil {
				first = r
			}
			if !reflect.DeepEqual(r, first) {
				t.Errorf("%d threads give another result: inertia %v, %v", threads, r.Inertia, first.Inertia)
			}
		}
		// The value itself: the same bits on any processor.
		testkit.Is(t, math.Float64bits(first.Inertia), want, double, first.Inertia)
	}
}

func TestWorkspaceIsReused(t *testing.T) {
	sets := sklearnSets(t)
	w := new(Workspace)
	for _, i := range []int{0, 3, 1, 5, 4} {
		m := sets[i].data(i)
		index := make([]int32, 0, m.Rows/2)
		half := npy.Matrix{Cols: m.Cols}
		for r := 0; r < m.Rows; r += 2 {
			index = append(index, int32(r))
			half.Data = append(half.Data, m.Row(r)...)
			half.Rows++
		}
		got, err := w.FitRows(context.Background(), m, index, Options{Clusters: sets[i].Clusters, Seed: 3})
		testkit.None(t, err)
		want, err := Fit(context.Background(), half, Options{Clusters: sets[i].Clusters, Seed: 3})
		testkit.None(t, err)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: half of the rows in a used workspace differ from the same rows alone", sets[i].Name)
		}
	}
}

func TestSmallCases(t *testing.T) {
	ctx := context.Background()
	fit := func(m npy.Matrix, k int) *Result {
		t.Helper()
		r, err := Fit(ctx, m, Options{Clusters: k})
		testkit.None(t, err)
		return r
	}
	one := fit(npy.Matrix{Data: []float32{3, 4}, Rows: 1, Cols: 2}, 1)
	if one.Inertia != 0 || !slices.Equal(one.Centres.Data, []float32{3, 4}) || slices.Max(one.Labels) != 0 {
		t.Errorf("one row: %+v", one)
	}
	same := fit(npy.Matrix{Data: []float32{1, 1, 1, 1, 1}, Rows: 5, Cols: 1}, 3)
	testkit.That(t, slices.Max(same.Labels) == slices.Min(same.Labels) && same.Inertia == 0, "equal rows", same)
	two := fit(npy.Matrix{Data: []float32{0, 0.5, 10, 10.5}, Rows: 4, Cols: 1}, 2)
	if l := two.Labels; l[0] != l[1] || l[2] != l[3] || l[0] == l[2] || two.Inertia != 0.25 {
		t.Errorf("two pairs: %+v", two)
	}
	limited, err := Fit(ctx, npy.Matrix{Data: []float32{0, 1, 2, 3, 4, 5, 6, 7}, Rows: 8, Cols: 1},
		Options{Clusters: 2, MaxIterations: 1, Init: &npy.Matrix{Data: []float32{0, 1}, Rows: 2, Cols: 1}})
	testkit.None(t, err, "one iteration", limited)
	testkit.Is(t, limited.Iterations, 1, "one iteration", limited)
}

func TestErrors(t *testing.T) {
	good := npy.Matrix{Data: []float32{1, 2, 3, 4}, Rows: 2, Cols: 2}
	nan := float32(math.NaN())
	for _, c := range []struct {
		m    npy.Matrix
		o    Options
		want string
	}{
		{good, Options{}, "number of clusters is 0"},
		{good, Options{Clusters: 3}, "2 rows cannot make 3 clusters"},
		{good, Options{Clusters: 1, MaxIterations: -1}, "1 starts of at most -1 iterations"},
		{good, Options{Clusters: 1, Starts: -2}, "-2 starts"},
		{npy.Matrix{Data: good.Data, Rows: 3, Cols: 2}, Options{Clusters: 1}, "3 rows and 2 columns needs 6 numbers, it has 4"},
		{npy.Matrix{Data: []float32{1, 2, nan, 4}, Rows: 2, Cols: 2}, Options{Clusters: 1}, "row 1, column 0 is NaN"},
		{good, Options{Clusters: 1, Init: &good}, "starting centres are 2 by 2, want 1 by 2"},
		{good, Options{Clusters: 1, Init: &npy.Matrix{Data: []float32{nan, 0}, Rows: 1, Cols: 2}}, "starting centres: row 0, column 0"},
		{good, Options{Clusters: 1, Init: &npy.Matrix{Data: []float32{0}, Rows: 1, Cols: 2}}, "starting centres: a matrix"},
	} {
		testkit.ErrSays(t, testkit.Err(Fit(context.Background(), c.m, c.o)), c.want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, o := range []Options{{Clusters: 2}, {Clusters: 1, Init: &npy.Matrix{Data: []float32{0, 0}, Rows: 1, Cols: 2}}} {
		testkit.ErrIs(t, testkit.Err(Fit(ctx, good, o)), context.Canceled, "a cancelled fit")
	}
}
