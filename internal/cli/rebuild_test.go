package cli

import (
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/redsi/redsi/internal/system/signature"
)

// signAs makes a signing key of a name, and lets redsi sign by it from here on.
func signAs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sign-as NAME")
	}
	path := filepath.Join(ts.Getenv("WORK"), args[0]+".key")
	k, err := signature.New(args[0])
	ts.Check(err)
	ts.Check(k.Write(path))
	ts.Setenv("REDSI_SIGNING_KEY", path)
}
