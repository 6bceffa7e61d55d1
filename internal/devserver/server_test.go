package devserver

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPortTaken: whoever answers on a taken port must not be taken for the server
// that was to be started there.
func TestPortTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	for name, o := range map[string]Options{
		"server": {Port: port},
		"UI":     {UI: true, UIPort: port},
	} {
		o.Program, o.Dir = "/nothing/is/started", t.TempDir()
		if _, err := Join(context.Background(), o); !errors.Is(err, ErrPort) {
			t.Errorf("%s: %v, want %v", name, err, ErrPort)
		}
	}
}

// TestDatabaseDamaged: the error says what may be deleted.
func TestDatabaseDamaged(t *testing.T) {
	program, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "temporal.db"), []byte("no database"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Start(context.Background(), Options{Program: program, Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "not a database") || !strings.Contains(err.Error(), "delete "+dir+":") {
		t.Errorf("got %v", err)
	}
}
