// Package address reads what steps, tables and figures are called: module.first["a"].step.dedup.nq["url"].
package address

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
)

// Address is the name of a step, table or figure, of a block of several, or of a module.
type Address struct {
	Modules string // that it is in, outermost first: module.first["a"]; "" if none
	Name    string // of its block within them: step.dedup.nq
	Key     string // of one of the block's steps, as Key writes it, or Any; "" without for_each
}

// Any is the key of the step that stands for all steps of a block while nobody knows which there are.
const Any = "[*]"

// Key is how an address has a key of for_each.
func Key(key string) string { return "[" + strconv.Quote(key) + "]" }

// Of cuts any text into the parts of an address; String joins them to the same text.
func Of(text string) (a Address) {
	local := text
	if strings.HasPrefix(text, "module.") { // which few do
		modules := modulesOf.FindString(text)
		a.Modules, local = strings.TrimSuffix(modules, "."), text[len(modules):]
	}
	a.Name, _, _ = strings.Cut(local, "[")
	a.Key = local[len(a.Name):]
	return a
}

// A key is quoted, and may have any character: what an address ends with is found after it.
const quoted = `"(?:[^"\\]|\\.)*"`

var (
	modulesOf = regexp.MustCompile(`^(?:module\.[^.\[]+(?:\[` + quoted + `\])?\.)*`)
	localOf   = regexp.MustCompile(`^(?:step\.)?[^.\[]*\.[^.\[]*(?:\[` + quoted + `\])?`)
	itemOf    = regexp.MustCompile(`^(?:[^:"]|` + quoted + `)*`)
)

// Output cuts ADDRESS.OUTPUT; without an output, all of it is an address.
func Output(name string) (step, output string) {
	local := Of(name).Local()
	rest := local[len(localOf.FindString(local)):]
	if output, ok := strings.CutPrefix(rest, "."); ok {
		return strings.TrimSuffix(name, rest), output
	}
	return name, ""
}

// Cell cuts ADDRESS:CELL. A key may have a colon too, a cell anything.
func Cell(name string) (item, cell string, ok bool) {
	item = itemOf.FindString(name)
	if cell, ok = strings.CutPrefix(name[len(item):], ":"); !ok {
		item, cell = name, ""
	}
	return item, cell, ok
}

func (a Address) String() string { return a.Block() + a.Key }

// Block is the address of the block, which all of its steps share.
func (a Address) Block() string {
	if a.Modules == "" {
		return a.Name
	}
	return a.Modules + "." + a.Name
}

// Local is the address within its modules.
func (a Address) Local() string { return a.Name + a.Key }

// Type is the type of the block: source, step, table or figure.
func (a Address) Type() string {
	typ, _, _ := strings.Cut(a.Name, ".")
	return typ
}

// Label is the name that the block has for itself: nq.
func (a Address) Label() string { return a.Name[strings.LastIndexByte(a.Name, '.')+1:] }

// IsRendered reports whether the address is a table's or figure's.
func (a Address) IsRendered() bool { return a.Type() == "table" || a.Type() == "figure" }

// Blocks name several steps in few words: their blocks, each once. One step is its own name.
func Blocks(addresses []string) []string {
	if len(addresses) == 1 {
		return addresses
	}
	return lists.Unique(lists.Map(addresses, func(a string) string { return Of(a).Block() }))
}
