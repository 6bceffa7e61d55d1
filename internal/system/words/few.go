package words

import (
	"fmt"
	"strings"
)

// Clip shortens a text to n characters, with … behind what is left.
func Clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// And lists the first n of some texts, and says how many more there are: a, b and 3 more.
func And(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}
