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

// Of is the form of a word for a number: one thing has, other numbers have.
func Of(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// More says how many of a list there are beyond the first n, as the end of a line: "and 3 more";
// "": none.
func More(all, n int) string {
	if all <= n {
		return ""
	}
	return fmt.Sprintf("and %d more", all-n)
}

// And lists the first n of some texts, and says how many more there are: a, b and 3 more.
func And(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}
