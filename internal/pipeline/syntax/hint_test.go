package syntax

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// A message is cut once, between characters; a message that quotes nothing long is left as it is.
func FuzzBrief(f *testing.F) {
	for _, text := range []string{"", "short", strings.Repeat("long ", 100), strings.Repeat("日", 100), strings.Repeat("\"", 200), strings.Repeat("\x80", 200)} {
		f.Add(text)
		f.Add(fmt.Sprintf("want a number, got the string %q and %[1]q, not %q", text, "x"))
	}
	f.Fuzz(func(t *testing.T, message string) {
		once := brief(message)
		if len(message) <= Long && once != message {
			t.Fatalf("%q becomes %q", message, once)
		}
		if again := brief(once); again != once {
			t.Fatalf("%q becomes %q", once, again)
		}
		if utf8.ValidString(message) && !utf8.ValidString(once) {
			t.Fatalf("%q is cut within a character: %q", message, once)
		}
	})
}
