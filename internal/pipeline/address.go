package pipeline

import (
	"regexp"
	"slices"
	"strings"
)

// SplitAddress cuts an address into its modules and what it names within the
// innermost one: module.first["a"].step.dedup.nq["url"] into module.first["a"] and
// step.dedup.nq["url"]. Without modules the first part is "".
func SplitAddress(address string) (module, local string) {
	if !strings.HasPrefix(address, "module.") {
		return "", address
	}
	modules := modulesOf.FindString(address)
	return strings.TrimSuffix(modules, "."), address[len(modules):]
}

var modulesOf = regexp.MustCompile(`^(?:module\.[^.\[]+(?:\["(?:[^"\\]|\\.)*"\])?\.)*`)

// AnyInstance ends the address of the one step that stands for all of a block while it is
// not known which there are.
const AnyInstance = "[*]"

// BlockOf is the address of the block whose instance has an address.
func BlockOf(address string) string {
	_, local := SplitAddress(address)
	block, _, _ := strings.Cut(local, "[")
	return strings.TrimSuffix(address, local) + block
}

// Blocks name several steps in few words: their blocks, each once. One step is its own name.
func Blocks(addresses []string) (blocks []string) {
	if len(addresses) == 1 {
		return addresses
	}
	for _, address := range addresses {
		if block := BlockOf(address); !slices.Contains(blocks, block) {
			blocks = append(blocks, block)
		}
	}
	return blocks
}

// BlockType is the type of the block that an address is of: source, step, table or figure.
func BlockType(address string) string {
	_, local := SplitAddress(address)
	typ, _, _ := strings.Cut(local, ".")
	return typ
}

// IsRendered reports whether an address is a table's or figure's.
func IsRendered(address string) bool {
	block := BlockType(address)
	return block == "table" || block == "figure"
}
