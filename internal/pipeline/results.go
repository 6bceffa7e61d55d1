package pipeline

import "github.com/redsi/redsi/internal/system/signature"

// Results is what a pipeline says of results that others made: where they are, and whose
// are believed. It is not part of any key.
type Results struct {
	From      []string // addresses of stores that are only read; folders as the loader's files are named
	Trust     []signature.Public
	Revoked   []signature.Public
	Untrusted string // "run", "verify" or "use": of others' results that no trusted key signed; "" if it is not said
	Shared    string // the same of results in the project's own store
}

type resultsBlock struct {
	From      []string `hcl:"from,optional" help:"Other stores, which are only read: https://HOST/PATH, s3://BUCKET/PREFIX?anonymous=true, or a folder relative to this file."`
	Trust     []string `hcl:"trust,optional" help:"Public keys whose results are trusted, as redsi key show prints them: NAME:BASE64."`
	Revoked   []string `hcl:"revoked,optional" help:"Public keys whose signatures count for nothing, whenever they were made."`
	Untrusted string   `hcl:"untrusted,optional" enum:"run,verify,use" help:"What happens to others' results that no trusted key signed: the step runs here, it runs and is compared, or the result is used. Default: \"run\""`
	Shared    string   `hcl:"shared,optional" enum:"run,verify,use" help:"The same for results in the project's own store. Default: \"use\""`
}

// Beliefs are what Untrusted and Shared may be.
var Beliefs = []string{"run", "verify", "use"}
