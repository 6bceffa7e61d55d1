package nvidia

import (
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestVersion: versions are ordered by both numbers, and written and read as people do.
func TestVersion(t *testing.T) {
	for _, v := range [][2]Version{{{7, 5}, {8, 0}}, {{8, 0}, {8, 6}}, {{9, 9}, {10, 0}}} {
		testkit.That(t, v[0].Less(v[1]) && !v[1].Less(v[0]) && !v[0].Less(v[0]), v[0], "and", v[1])
	}
	v := CUDAVersion(12080)
	text, err := v.MarshalText()
	var read Version
	if err != nil || string(text) != "12.8" || read.UnmarshalText(text) != nil || read != v {
		t.Error(v, string(text), read, err)
	}
	if read.UnmarshalText([]byte("new")) == nil {
		t.Error(read)
	}
}
