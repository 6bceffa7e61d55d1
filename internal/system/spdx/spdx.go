// Package spdx knows the licences of the SPDX License List, version 3.27.0. It must not know
// what is licensed.
package spdx

import (
	_ "embed"
	"slices"
	"strings"
)

// list has an identifier on each line, made by tools/golden/spdx.py: first those that version
// 1.2.0 of the Citation File Format has, too; behind an empty line the others.
//
//go:embed spdx.txt
var list string

// IDs are all identifiers, in their own case.
func IDs() []string { return strings.Fields(list) }

// ID is an identifier in its own case, by a text in any; "" if the text is none.
func ID(text string) string {
	ids := IDs()
	if i := slices.IndexFunc(ids, func(id string) bool { return strings.EqualFold(id, text) }); i >= 0 {
		return ids[i]
	}
	return ""
}

// InCFF reports whether the Citation File Format has an identifier.
func InCFF(id string) bool {
	first, _, _ := strings.Cut(list, "\n\n")
	return slices.Contains(strings.Fields(first), id)
}

// Address is the page of an identifier.
func Address(id string) string { return "https://spdx.org/licenses/" + id }
