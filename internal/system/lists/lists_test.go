package lists

import (
	"slices"
	"strconv"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func TestLists(t *testing.T) {
	list := []int{3, 1, 13}
	testkit.Deep(t, Map(list, strconv.Itoa), []string{"3", "1", "13"}, "Map")
	if got := Filter(list, func(n int) bool { return n > 1 }); !slices.Equal(got, []int{3, 13}) || list[1] != 1 {
		t.Errorf("Filter: %v of %v", got, list)
	}
	if Map([]int{}, strconv.Itoa) != nil || Filter(list, func(int) bool { return false }) != nil {
		t.Error("a list of none is not nil")
	}
	testkit.Is(t, Count(list, func(n int) bool { return n > 1 }), 2, "Count")
	testkit.Deep(t, Unique([]int{3, 1, 3, 1, 2}), []int{3, 1, 2}, "Unique")
	testkit.Deep(t, Set(list), map[int]bool{3: true, 1: true, 13: true}, "Set")
	testkit.Deep(t, By(list, func(n int) int { return n % 10 }), map[int]int{3: 13, 1: 1}, "By")
	testkit.Deep(t, Places(3), []int{0, 1, 2}, "Places")
}
