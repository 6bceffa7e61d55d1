package view

import (
	"bytes"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
)

// TestLostInOrder: the same results are named each time.
func TestLostInOrder(t *testing.T) {
	var first string
	for range 20 {
		var out bytes.Buffer
		done := artifacts.Transferred{Lost: map[artifacts.Digest]string{}}
		for i := range lostShown + 2 {
			done.Lost[artifacts.Digest{byte(i)}] = "gone"
		}
		Transferred(&out, &artifacts.Transfer{}, done)
		if first == "" {
			first = out.String()
		}
		if out.String() != first || !strings.Contains(first, "\nand 2 more could not be copied") {
			t.Fatalf("%s, before %s", &out, first)
		}
	}
}
