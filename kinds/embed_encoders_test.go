package kinds_test

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/model/bert"
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestEmbedOtherEncoders: encoders with tokenizers of other sorts, whose texts are cut to the
// model's length with the special tokens around.
func TestEmbedOtherEncoders(t *testing.T) {
	l := newLocal(t)
	texts := []string{"", "the King of the castle", strings.Repeat("who sings ", 40), "Ärmelkanal"}
	for model, tokenizer := range map[string]string{"mpnet": "mpnet", "roberta": "xlm-roberta", "distilbert": "bert-cased"} {
		folder, path := "../internal/model/bert/testdata/"+model, "../internal/model/subword/testdata/sorts/"+tokenizer+".json"
		m, err := bert.Load(folder, tensor.CPU)
		errtest.None(t, err)
		defer m.Close()
		tok, err := subword.LoadEncoder(path)
		errtest.None(t, err)
		defer tok.Close()
		tree := map[string]any{"title": false, "corpus": l.corpusOf(texts), "model": l.tree("files", folderOf(t, folder, "")), "pooling": "max",
			"tokenizer": []any{l.tree("files", map[string][]byte{"tokenizer.json": readFile(t, path)})}, "max_tokens": m.Config.MaxTokens(), "device": "cpu"}
		res, err := l.do("embed", tree)
		errtest.None(t, err)
		got := l.vectors(res)
		for i, text := range texts {
			ids, _ := tok.EncodeTruncated(text, int(m.Config.MaxTokens()))
			want, err := m.Embed([][]int32{ids}, bert.Max, 1)
			errtest.None(t, err)
			for j, v := range want[0] {
				if d := math.Abs(float64(v - got.Data[i*got.Cols+j])); !(d <= 1e-5) {
					t.Fatalf("%s: text %d, number %d is %g apart", model, i, j, d)
				}
			}
		}
		if n := res.Counts; n["truncated_texts"] != 1 || n["empty_texts"] != 1 {
			t.Errorf("%s: counts %v", model, n)
		}
		tree["max_tokens"] = m.Config.MaxTokens() + 1
		errtest.Says(t, errtest.Of(l.do("embed", tree)), fmt.Sprintf("the model has %d positions", m.Config.MaxTokens()))
	}
}

// TestEmbedAsPublished: what sentence-transformers would compute otherwise is counted.
func TestEmbedAsPublished(t *testing.T) {
	l := newLocal(t)
	model := tinyBERT(t)
	model["modules.json"] = []byte(`[{"path":"","type":"sentence_transformers.models.Transformer"},
		{"path":"1_Pooling","type":"sentence_transformers.models.Pooling"}, {"path":"2_Normalize","type":"sentence_transformers.models.Normalize"}]`)
	model["1_Pooling/config.json"] = []byte(`{"pooling_mode_cls_token":false,"pooling_mode_mean_tokens":true}`)
	elsewhere := maps.Clone(tinyBERT(t))
	elsewhere["modules.json"] = []byte(`[{"path":"pool/first","type":"sentence_transformers.models.Pooling"},{"path":"2","type":"sentence_transformers.models.Normalize"}]`)
	elsewhere["pool/first/config.json"] = model["1_Pooling/config.json"]
	untold := maps.Clone(elsewhere)
	delete(untold, "pool/first/config.json")
	dense := maps.Clone(model)
	dense["modules.json"] = []byte(`[{"path":"2_Dense","type":"sentence_transformers.models.Dense"}]`)
	outside := maps.Clone(model)
	outside["modules.json"] = []byte(`[{"path":"../x","type":"sentence_transformers.models.Pooling"}]`)
	embed := func(files map[string][]byte, pooling string, normalize bool) (int64, error) {
		res, err := l.do("embed", map[string]any{"title": false, "corpus": l.corpusOf([]string{"a"}), "model": l.tree("files", files), "tokenizer": l.bertTokenizer(),
			"pooling": pooling, "normalize": normalize, "max_tokens": int64(24), "device": "cpu"})
		if err != nil {
			return 0, err
		}
		return res.Counts["other_than_published"], nil
	}
	for _, c := range []struct {
		files     map[string][]byte
		pooling   string
		normalize bool
		want      int64
	}{{model, "mean", true, 0}, {model, "cls", true, 1}, {model, "cls", false, 2}, {dense, "mean", false, 1}, {elsewhere, "mean", true, 0}, {elsewhere, "cls", false, 2}, {untold, "cls", false, 2}, {tinyBERT(t), "cls", false, 0}} {
		if got, err := embed(c.files, c.pooling, c.normalize); err != nil || got != c.want {
			t.Errorf("%s, %v: %d differences, want %d, %v", c.pooling, c.normalize, got, c.want, err)
		}
	}
	errtest.Says(t, errtest.Of(embed(outside, "cls", false)), "is not below the folder")
}
