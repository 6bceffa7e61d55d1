package collection

import (
	"crypto/sha256"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/serialize"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// TestSerializeElsewhere: the second program is needed where T5's tokenizer is asked, and not
// where it is only given.
func TestSerializeElsewhere(t *testing.T) {
	t5 := step.Inputs{step.In(artifacts.Artifact{Type: "files", Digest: sha256.Sum256([]byte("t5"))})}
	for _, c := range []struct {
		form, pronunciation string
		t5                  step.Inputs
		want                bool
	}{{"htmlnorm", "remove", t5, true}, {"htmlnorm", "keep", t5, false}, {"ncinorm", "remove", t5, false}, {"htmlnorm", "remove", nil, false}} {
		o := serialize.Defaults()
		o.Pronunciation = c.pronunciation
		task := testkit.Value(SerializeFile.Task(SerializeFileConfig{serializing{Form: c.form, T5: c.t5, Options: o}, t5[0]}))(t)
		tree := testkit.Value(task.Tree())(t)
		if got, err := SerializeFile.Elsewhere(tree); err != nil || got != c.want {
			t.Errorf("%s, %s, %d tokenizers: %v, %v", c.form, c.pronunciation, len(c.t5), got, err)
		}
	}
}
