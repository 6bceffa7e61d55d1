package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/signature"
)

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

// maxFrom and maxKeys bound what every command opens or compares.
const (
	maxFrom = 20
	maxKeys = 1000
)

// setResults reads the results block, once variables have values. That of a module says nothing:
// whom to believe is for the pipeline that is run.
func (l *loader) setResults() {
	b := l.singles["results"]
	if b == nil {
		return
	}
	c := l.fixedReader(b, "var")
	x, ok := schema.Read[resultsBlock](c)
	if !ok {
		return
	}
	seen := map[string]hcl.Range{}
	l.results = Results{addresses(c, x.From), publicKeys(c, "trust", x.Trust, seen), publicKeys(c, "revoked", x.Revoked, seen), x.Untrusted, x.Shared}
}

func addresses(c *schema.Reader, texts []string) (from []string) {
	if len(texts) > maxFrom {
		c.Diags.Error(c.Locate([]any{"from"}), "Too many addresses", fmt.Sprintf("There are %d addresses; at most %d are allowed: each is asked about every step without a result.", len(texts), maxFrom))
		return nil
	}
	for i, text := range texts {
		address := text
		if !strings.Contains(text, "://") { // a folder is relative to the file
			address = syntax.Beside(syntax.Dir(c.Block.TypeRange.Filename), text)
		}
		switch at := c.Locate([]any{"from", i}); {
		case text == "":
			c.Diags.Error(at, "Wrong address", "An address is not empty.")
		case slices.Contains(from, address):
			c.Diags.Error(at, "Named twice", fmt.Sprintf("%s is already in this list.", text))
		default:
			from = append(from, address)
		}
	}
	return from
}

func publicKeys(c *schema.Reader, attribute string, texts []string, seen map[string]hcl.Range) (keys []signature.Public) {
	if len(texts) > maxKeys {
		c.Diags.Error(c.Locate([]any{attribute}), "Too many keys", fmt.Sprintf("There are %d keys; at most %d are allowed.", len(texts), maxKeys))
		return nil
	}
	for i, text := range texts {
		at := c.Locate([]any{attribute, i})
		k, err := signature.ParsePublic(text)
		if err != nil {
			c.Diags.Error(at, "Not a public key", err.Error()+".")
			continue
		}
		if first, again := seen[k.ID()]; again {
			c.Diags.Error(at, "Named twice", fmt.Sprintf("The key of %s is already here. A revoked key is not trusted: keep it in revoked only.", k.Name), syntax.Place{Range: first, Text: "named here first"})
			continue
		}
		seen[k.ID()] = at
		keys = append(keys, k)
	}
	return keys
}
