package counted

import (
	"errors"

	"github.com/redsi/redsi/internal/host/roofline"
)

// Models are the names that All knows, in the order of counts.json. tiny is what make test
// counts again, and more are other updates of that model.
var Models = []string{"tiny", "more", "small", "base", "bert"}

// training is an update that is counted.
type training struct {
	name, batch, precision string
	atomic                 bool // with a row for each of the paper's documents
}

var updates = map[string][]training{
	"tiny":  {{"tiny", "real", "bf16", false}},
	"more":  {{"tiny", "real", "fp32", false}, {"tiny", "full", "bf16", false}, {"tiny_atomic", "atomic", "bf16", true}},
	"small": {{"small", "real", "fp32", false}, {"small", "real", "bf16", false}},
	"base":  {{"base", "real", "bf16", false}, {"base_atomic", "atomic", "bf16", true}},
}

// Held is what counts.json has of one of Models.
func Held(name string) (out []roofline.Counted) {
	for _, c := range roofline.Counts() {
		if c.By == name {
			out = append(out, c)
		}
	}
	return out
}

// All counts what counts.json has of one of Models. It is named in Counted.By.
func All(name string) (all []roofline.Counted, err error) {
	add := func(c roofline.Counted, failed error) {
		c.By = name
		all, err = append(all, c), errors.Join(err, failed)
	}
	size := Sizes()[map[string]string{"more": "tiny"}[name]]
	if known, ok := Sizes()[name]; ok {
		size = known
	}
	for _, u := range updates[name] {
		sizes := size
		if u.atomic {
			sizes = sizes.Extended(Documents)
		}
		add(Train(u.name, sizes, u.batch, u.precision))
	}
	switch name {
	case "tiny", "small":
		found, failed := Search(name, "fp32")
		for _, c := range found {
			add(c, nil)
		}
		add(Rank(name, "fp32"))
		err = errors.Join(err, failed)
	case "bert":
		add(Embed(name, roofline.BERT(), 4))
	}
	return all, err
}
