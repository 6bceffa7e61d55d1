package lists

import (
	"maps"
	"slices"
	"strconv"
	"testing"
)

func TestLists(t *testing.T) {
	list := []int{3, 1, 13}
	if got := Map(list, strconv.Itoa); !slices.Equal(got, []string{"3", "1", "13"}) {
		t.Errorf("Map: %q", got)
	}
	if got := Filter(list, func(n int) bool { return n > 1 }); !slices.Equal(got, []int{3, 13}) || list[1] != 1 {
		t.Errorf("Filter: %v of %v", got, list)
	}
	if Map([]int{}, strconv.Itoa) != nil || Filter(list, func(int) bool { return false }) != nil {
		t.Error("a list of none is not nil")
	}
	if got := Count(list, func(n int) bool { return n > 1 }); got != 2 {
		t.Errorf("Count: %d", got)
	}
	if got := Unique([]int{3, 1, 3, 1, 2}); !slices.Equal(got, []int{3, 1, 2}) {
		t.Errorf("Unique: %v", got)
	}
	if got := Set(list); !maps.Equal(got, map[int]bool{3: true, 1: true, 13: true}) {
		t.Errorf("Set: %v", got)
	}
	if got := By(list, func(n int) int { return n % 10 }); !maps.Equal(got, map[int]int{3: 13, 1: 1}) {
		t.Errorf("By: %v", got)
	}
	if got := Places(3); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("Places: %v", got)
	}
}
