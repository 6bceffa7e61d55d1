package cli

import "testing"

// TestOverwritten: on a terminal, of a progress bar the last state is shown.
func TestOverwritten(t *testing.T) {
	for text, want := range map[string]string{
		"plain\nlines\n":             "plain\nlines\n",
		"a\n 0%\r 50%\r100%\nb\n":    "a\n100%\nb\n",
		"\r 0%|  |\r 9%|# |\r\nnext": " 9%|# |\r\nnext",
		"dos\r\nlines\r\n":           "dos\r\nlines\r\n",
	} {
		if got := overwritten.ReplaceAllString(text, "$1"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
