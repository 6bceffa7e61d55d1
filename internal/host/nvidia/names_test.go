package nvidia

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestNames: the driver's files name each sort of card once.
func TestNames(t *testing.T) {
	folder := t.TempDir()
	if got := namesIn(folder); got != nil {
		t.Error(got)
	}
	for i, name := range []string{"NVIDIA H200", "NVIDIA H200", "NVIDIA L4"} {
		dir := filepath.Join(folder, fmt.Sprint(i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		text := "Model: \t\t " + name + "\nIRQ:   \t\t 116\nGPU UUID: \t GPU-1\n"
		if err := os.WriteFile(filepath.Join(dir, "information"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := namesIn(folder); fmt.Sprint(got) != "[NVIDIA H200 NVIDIA L4]" {
		t.Error(got)
	}
}
