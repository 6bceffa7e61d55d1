package cli

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// fetchCommand is: fetch FILE PATH. FILE will have the address of a server, which
// may still be starting; the answer goes to stdout, and its status to stderr.
func fetchCommand(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: fetch FILE PATH")
	}
	var address string
	for end := time.Now().Add(3 * time.Minute); !strings.HasSuffix(address, "\n"); {
		b, err := os.ReadFile(ts.MkAbs(args[0]))
		if err != nil && !os.IsNotExist(err) || time.Now().After(end) {
			ts.Fatalf("%s has no address: %v", args[0], err)
		}
		address = string(b)
	}
	resp, err := http.Get(strings.TrimSpace(address) + args[1])
	ts.Check(err)
	defer resp.Body.Close()
	_, err = io.Copy(ts.Stdout(), resp.Body)
	ts.Check(err)
	fmt.Fprintln(ts.Stderr(), resp.Status)
}
