package bert

import (
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/model/tensor"
)

// TestCardIsTransformers: on an emulated card vectors are the goldens too, and a batch is
// one transfer up and one down.
func TestCardIsTransformers(t *testing.T) {
	defer tensor.Emulate()()
	for folder, sequences := range map[string]string{"": "sequences.json", "/roberta": "texts.json", "/distilbert": "texts.json", "/mpnet": "texts.json"} {
		m, err := Load("testdata"+folder, tensor.CUDA(0))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		poolings := []Pooling{CLS, Mean, Max}
		if folder == "" {
			poolings = poolings[:2] // what the golden has
		}
		compare(t, "card "+folder, m, sequences, goldens.Text(t, "testdata"+folder+"/golden.safetensors"), poolings...)

		var texts [][]int32
		goldens.JSON(t, "testdata/"+sequences, &texts)
		for _, pooling := range poolings {
			var n tensor.Counts
			e := tensor.Try(func() {
				n = tensor.Count(func() { _, err = m.Embed(texts, pooling, 1000) })
			})
			if e != nil || err != nil {
				t.Fatal(e, err)
			}
			if n.Uploads != 1 || n.Downloads != 1 || len(n.Syncs) > 0 {
				t.Errorf("%s, %s: %d uploads, %d downloads, waits for %v", folder, pooling, n.Uploads, n.Downloads, n.Syncs)
			}
		}
	}
}
