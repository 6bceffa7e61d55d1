// Package spdx knows the licences of the SPDX License List, version 3.27.0. It must not know
// what is licensed.
package spdx

import (
	_ "embed"
	"strings"
)

// list has an identifier on each line, made by tools/golden/spdx.py: first those that version
// 1.2.0 of the Citation File Format has, too; behind an empty line the others.
//
//go:embed spdx.txt
var list string

// Pages is before an identifier in the address of its page.
const Pages = "https://spdx.org/licenses/"

// IDs are all identifiers, in their own case.
func IDs() []string { return strings.Fields(list) }

// Find is an identifier in its own case, by a text in any, and whether the Citation File Format
// has it; "" if the text is none.
func Find(text string) (id string, inCFF bool) {
	first, _, _ := strings.Cut(list, "\n\n")
	for i, id := range IDs() {
		if strings.EqualFold(id, text) {
			return id, i < len(strings.Fields(first))
		}
	}
	return "", false
}
