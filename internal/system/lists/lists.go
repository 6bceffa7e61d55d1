// Package lists has what package slices lacks. It must not know what is in a list.
package lists

import "slices"

// Map is what of makes of each element of a list, in its order; nil of none.
func Map[T, U any](list []T, of func(T) U) []U {
	all := slices.Grow([]U(nil), len(list))
	for _, x := range list {
		all = append(all, of(x))
	}
	return all
}

// Places are those of a list of n elements: 0 to n-1.
func Places(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// Filter is the elements of a list that are wanted, in its order, as a list of its own; nil of none.
func Filter[T any](list []T, wanted func(T) bool) (some []T) {
	for _, x := range list {
		if wanted(x) {
			some = append(some, x)
		}
	}
	return some
}

// Count is how many elements of a list are wanted.
func Count[T any](list []T, wanted func(T) bool) (n int) {
	for _, x := range list {
		if wanted(x) {
			n++
		}
	}
	return n
}

// Unique is the elements of a list, each once, where it comes first; nil of none.
func Unique[K comparable](list []K) []K {
	seen := make(map[K]bool, len(list))
	return Filter(list, func(x K) bool {
		again := seen[x]
		seen[x] = true
		return !again
	})
}

// Set is what a list has.
func Set[K comparable](list []K) map[K]bool {
	has := make(map[K]bool, len(list))
	for _, x := range list {
		has[x] = true
	}
	return has
}

// By finds the elements of a list by a key, the last of several with one key.
func By[K comparable, T any](list []T, key func(T) K) map[K]T {
	by := make(map[K]T, len(list))
	for _, x := range list {
		by[key(x)] = x
	}
	return by
}
