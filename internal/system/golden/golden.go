// Package golden reads golden files in tests: what the scripts in tools/golden wrote. No
// program imports it.
package golden

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"testing"
)

// JSON reads a gzipped JSON document into v, and ends the test if it cannot.
func JSON(t testing.TB, path string, v any) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(v); err != nil {
		t.Fatal(err)
	}
}
