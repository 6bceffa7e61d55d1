package words

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Clip shortens a text to n characters, followed by … if it was longer.
func Clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return string([]rune(s[:i])) + "…"
		}
		n--
	}
	return s
}

// Fit shortens a text to most characters, … included.
func Fit(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// Of returns the form of a word for a number: one thing has, other numbers have.
func Of(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// First yields the first n elements of a list with their places, then calls more with how many are left, if any are.
func First[T any](list []T, n int, more func(left int)) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i, x := range list[:min(n, len(list))] {
			if !yield(i, x) {
				return
			}
		}
		if left := len(list) - n; left > 0 {
			more(left)
		}
	}
}

// And lists the first n texts, and says how many more there are: a, b and 3 more.
func And(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}

// Quoted is And for names in quotes, with long names cut.
func Quoted(names []string, n int) string {
	quoted := slices.Clone(names)
	for i, name := range quoted[:min(n, len(names))] {
		quoted[i] = fmt.Sprintf("%.80q", name)
	}
	return And(quoted, n)
}
