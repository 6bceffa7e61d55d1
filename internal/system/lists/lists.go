// Package lists has what package slices lacks. It must not know what is in a list.
package lists

import "slices"

// Map returns the results of of for the elements of a list, in its order; nil for an empty list.
func Map[T, U any](list []T, of func(T) U) []U {
	all := slices.Grow([]U(nil), len(list))
	for _, x := range list {
		all = append(all, of(x))
	}
	return all
}

// Places returns the places in a list of n elements: 0 to n-1.
func Places(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// Filter returns the wanted elements of a list, in its order, as a new list; nil if there are none.
func Filter[T any](list []T, wanted func(T) bool) (some []T) {
	for _, x := range list {
		if wanted(x) {
			some = append(some, x)
		}
	}
	return some
}

// Count returns how many elements of a list are wanted.
func Count[T any](list []T, wanted func(T) bool) (n int) {
	for _, x := range list {
		if wanted(x) {
			n++
		}
	}
	return n
}

// Unique returns the elements of a list, each once, where it comes first; nil for an empty list.
func Unique[K comparable](list []K) []K {
	seen := make(map[K]bool, len(list))
	return Filter(list, func(x K) bool {
		first := !seen[x]
		seen[x] = true
		return first
	})
}

// Set returns the elements of a list as a set.
func Set[K comparable](list []K) map[K]bool {
	has := make(map[K]bool, len(list))
	for _, x := range list {
		has[x] = true
	}
	return has
}

// By returns the elements of a list by a key, the last of several with the same key.
func By[K comparable, T any](list []T, key func(T) K) map[K]T {
	by := make(map[K]T, len(list))
	for _, x := range list {
		by[key(x)] = x
	}
	return by
}
