package checklist

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/internal/system/words"
)

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return humanize.Comma(int64(n)) + " " + what
}

func hours(seconds float64) string {
	switch {
	case seconds >= 3600:
		return fmt.Sprintf("%.1f h", seconds/3600)
	case seconds >= 60:
		return fmt.Sprintf("%.1f min", seconds/60)
	}
	return fmt.Sprintf("%.1f s", seconds)
}

func millions(n int64) string {
	if n >= 1e6 {
		return fmt.Sprintf("%.2f M", float64(n)/1e6)
	}
	return humanize.Comma(n)
}

// counts lists texts with how many have each, the most frequent first.
func counts(of map[string]int, what string) string {
	names := slices.Collect(maps.Keys(of))
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
	var list []string
	for _, name := range words.First(names, mostShown, func(n int) { list = append(list, fmt.Sprintf("%d more", n)) }) {
		list = append(list, fmt.Sprintf("%s (%s)", name, counted(of[name], what)))
	}
	return strings.Join(list, ", ")
}
