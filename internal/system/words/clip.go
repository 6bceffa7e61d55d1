package words

// Clip shortens a text to n characters, with … behind what is left.
func Clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
