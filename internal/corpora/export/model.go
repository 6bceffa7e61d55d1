package export

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// ModelCard is the content of a trained model's card.
type ModelCard struct {
	Name        string // such as "NQ320K-Title/NciNorm, T5-Base, naive"
	License     string // of the weights, as the hub writes it: "apache-2.0"
	Language    string // of questions and identifiers, such as "de"; "" to leave it out
	Base        string // repository of the pretrained model; "" if none
	Dataset     string // repository of the collection; "" if none
	Identifiers string // type of the identifiers
	OneToken    bool   // identifiers are one token each, ranked by one step of the decoder
	Documents   int
	Parameters  int64
	Query       QueryInput
	Valid       string    // "tokens" or "text": the part of a hypothesis that must be an identifier's
	Ends        string    // "full", "heuristic" or "never": the end of the search
	OwnHead     bool      // of a T5: the output matrix is not the embedding
	Results     []Result  // of evaluations
	Settings    []Setting // of the training
	Sources     []Setting // inputs and their digests
	Command     string    // rebuilds the model; "" to leave it out
}

type QueryInput struct {
	Prefix    string // before each query, including the blank between them; "": none
	Tokens    int    // most tokens, including the prefix and the tokenizer's own
	Lowercase bool
}

type Result struct {
	Name   string // such as "dev, post-filtered"
	Scores []Score
}

// Score is a metric, in percent.
type Score struct {
	Metric string // such as "MRR@10"
	Value  float64
}

// WriteModelCard writes a model's README.md: the hub's metadata with the results, how to use it with only transformers, its
// training and its sources. Equal arguments give equal bytes.
func WriteModelCard(w io.Writer, c ModelCard) error {
	var b bytes.Buffer
	if err := c.header(&b); err != nil {
		return err
	}
	fmt.Fprintf(&b, "# %s\n\n", inline(c.Name))
	fmt.Fprintf(&b, "A differentiable search index: asked a question, it generates the identifier of the document that answers it.\n"+
		"It has %s parameters and knows %s documents by %s identifiers, which `identifiers.jsonl` lists.\n",
		thousands(int(c.Parameters)), thousands(c.Documents), inline(c.Identifiers))
	fmt.Fprintf(&b, "\n## Ask it\n\nIn this folder, with transformers 4.44.1 or 5.24.0 and no other code:\n\n```python\n%s```\n", c.code())
	if !c.OneToken {
		rule := "its tokens are those of an identifier"
		if c.Valid == "text" {
			rule = "its text is an identifier"
		}
		fmt.Fprintf(&b, "\nA hypothesis counts if %s; others are left out, as in the results below.\n", rule)
		switch c.Ends {
		case "full":
			b.WriteString("\nThe search ends when there are as many hypotheses as beams (`early_stopping` is true). transformers 5 then counts those too that\n" +
				"have not ended at the longest length, so that documents at the end of the answer may be missing; along a trie\n" +
				"(`prefix_allowed_tokens_fn`) beams that have ended live on, and find identifiers again. With `early_stopping=\"never\"`, which\n" +
				"searches longer, it finds what 4.44.1 does.\n")
		case "heuristic":
			b.WriteString("\ntransformers 5 ends this search earlier than 4.44.1 (`early_stopping` is false), and may find other hypotheses: the results\n" +
				"below are of 4.44.1's rule. With `early_stopping=\"never\"` both find the same, and search longer.\n")
		}
	}
	if c.OwnHead {
		b.WriteString("\ntransformers 5 warns that `shared.weight` and `lm_head.weight` have different values and are not tied, which is right: leave\n" +
			"config.json as it is. Set `model.config.tie_word_embeddings = False` before `resize_token_embeddings`, which ties them.\n")
	}
	if len(c.Results) > 0 {
		b.WriteString("\n## Results\n\nIn percent.\n\n| Evaluation |")
		for _, s := range c.Results[0].Scores {
			fmt.Fprintf(&b, " %s |", cell(s.Metric))
		}
		b.WriteString("\n|---|" + string(bytes.Repeat([]byte("---:|"), len(c.Results[0].Scores))) + "\n")
		for _, r := range c.Results {
			fmt.Fprintf(&b, "| %s |", cell(r.Name))
			for _, s := range r.Scores {
				fmt.Fprintf(&b, " %.2f |", s.Value)
			}
			b.WriteString("\n")
		}
	}
	provenance(&b, "How it was trained", c.Settings, c.Command, c.Sources)
	_, err := w.Write(b.Bytes())
	return err
}

// header is the YAML block; strings are JSON, which YAML reads.
func (c ModelCard) header(b *bytes.Buffer) error {
	text := func(s string) string { j, _ := json.Marshal(s); return string(j) }
	if c.License == "" {
		return fmt.Errorf("the card of %s has no license", c.Name)
	}
	fmt.Fprintf(b, "---\nlicense: %s\nlibrary_name: transformers\ntags:\n- generative-retrieval\n- differentiable-search-index\n", text(c.License))
	if c.Language != "" {
		fmt.Fprintf(b, "language:\n- %s\n", text(c.Language))
	}
	if c.Base != "" {
		fmt.Fprintf(b, "base_model: %s\n", text(c.Base))
	}
	if c.Dataset != "" {
		fmt.Fprintf(b, "datasets:\n- %s\n", text(c.Dataset))
	}
	if len(c.Results) > 0 {
		fmt.Fprintf(b, "model-index:\n- name: %s\n  results:\n", text(c.Name))
		for _, r := range c.Results {
			fmt.Fprintf(b, "  - task:\n      type: text-retrieval\n    dataset:\n      name: %s\n      type: %s\n    metrics:\n", text(r.Name), text(cmp.Or(c.Dataset, r.Name)))
			for _, s := range r.Scores {
				fmt.Fprintf(b, "    - type: %s\n      value: %s\n", text(s.Metric), strconv.FormatFloat(s.Value, 'f', -1, 64))
			}
		}
	}
	b.WriteString("---\n\n")
	return nil
}

// code queries the model with only transformers, and leaves the documents in answer, best first.
func (c ModelCard) code() string {
	var b bytes.Buffer
	b.WriteString(`import json, torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
tokenizer, model = AutoTokenizer.from_pretrained("."), AutoModelForSeq2SeqLM.from_pretrained(".")
documents = [json.loads(line) for line in open("identifiers.jsonl", encoding="utf-8")]
query = "who played the main character"
`)
	question := "query"
	if c.Query.Lowercase {
		question += ".lower()"
	}
	if c.Query.Prefix != "" {
		j, _ := json.Marshal(c.Query.Prefix)
		question = string(j) + " + " + question
	}
	fmt.Fprintf(&b, "read = tokenizer(%s, truncation=True, max_length=%d, return_tensors=\"pt\").input_ids\n", question, c.Query.Tokens)
	switch {
	case c.OneToken:
		b.WriteString(`start = torch.tensor([[model.config.decoder_start_token_id]])
scores = model(input_ids=read, decoder_input_ids=start).logits[0, -1]
best = scores[[d["tokens"][0] for d in documents]].topk(min(40, len(documents)))
answer = [documents[i] for i in best.indices.tolist()]
`)
	case c.Valid == "text":
		b.WriteString(`known = {d["text"]: d for d in documents}
found = [t.strip() for t in tokenizer.batch_decode(model.generate(read), skip_special_tokens=True)]
answer = [known[t] for t in dict.fromkeys(found) if t in known]
`)
	default:
		b.WriteString(`known = {tuple(d["tokens"]): d for d in documents}
end, found = model.config.eos_token_id, model.generate(read)[:, 1:].tolist()
found = [tuple(t[:t.index(end) + 1]) if end in t else tuple(t) for t in found]
answer = [known[t] for t in found if t in known]
`)
	}
	b.WriteString("print(answer[:10])\n")
	return b.String()
}
