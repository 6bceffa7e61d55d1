// Package spdx knows the licences of the SPDX License List, version 3.27.0. It must not know what is licensed.
package spdx

import (
	_ "embed"
	"strings"
)

// list has an identifier on each line, written by tools/golden/spdx.py: first the identifiers that version 1.2.0 of the
// Citation File Format has, too; after an empty line the others.
//
//go:embed spdx.txt
var list string

// Pages precedes an identifier in the address of its page.
const Pages = "https://spdx.org/licenses/"

// IDs returns all identifiers, in their own case.
func IDs() []string { return strings.Fields(list) }

// Find returns the identifier, in its own case, that a text in any case names, or "", and whether CFF has it.
func Find(text string) (id string, inCFF bool) {
	first, _, _ := strings.Cut(list, "\n\n")
	for i, id := range IDs() {
		if strings.EqualFold(id, text) {
			return id, i < len(strings.Fields(first))
		}
	}
	return "", false
}
