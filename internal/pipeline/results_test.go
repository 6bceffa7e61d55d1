package pipeline_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/signature"
)

const aliceKey, bobKey = "alice:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=", "bob:PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw="

// TestResults: what a pipeline says of others' results is read, with variables, and makes
// neither a step nor a difference to one.
func TestResults(t *testing.T) {
	const rest = `
variable "host" { default = "https://example.org" }
step "download" "nq" { url = "https://example.org/a" }
`
	p, ds := pipeline.Load(map[string][]byte{"sub/p.hcl": []byte(`results {
  from      = ["${var.host}/paper", "s3://bucket/main?anonymous=true", "../colleague", "/abs"]
  trust     = ["` + aliceKey + `"]
  revoked   = ["` + bobKey + `"]
  untrusted = "verify"
  shared    = "run"
}` + rest)}, pipeline.Options{Registry: kinds()})
	errtest.None(t, ds.Err())
	alice, err := signature.ParsePublic(aliceKey)
	errtest.None(t, err)
	bob, err := signature.ParsePublic(bobKey)
	errtest.None(t, err)
	want := pipeline.Results{From: []string{"https://example.org/paper", "s3://bucket/main?anonymous=true", "colleague", "/abs"},
		Trust: []signature.Public{alice}, Revoked: []signature.Public{bob}, Untrusted: "verify", Shared: "run"}
	if !reflect.DeepEqual(p.Results, want) {
		t.Errorf("%+v", p.Results)
	}
	without, _ := pipeline.Load(map[string][]byte{"sub/p.hcl": []byte(strings.Repeat("\n", 6) + rest)}, pipeline.Options{Registry: kinds()})
	if !reflect.DeepEqual(p.Steps, without.Steps) {
		t.Errorf("%+v, without the block %+v", p.Steps, without.Steps)
	}
}
