package starter

import (
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/corpora/collect"
	"github.com/redsi/redsi/internal/corpora/nq"
)

// splitPlan says how a collection gets the splits that its files lack: a study trains, chooses a checkpoint, and tests.
type splitPlan struct {
	become map[nq.Split]nq.Split // files of a split are used for another, or for none
	draw   map[nq.Split]float64
	from   nq.Split // "": what has no split
	why    string
}

// Shares to draw for a missing split.
const (
	devShare  = 0.1
	testShare = 0.2
	mostly    = 0.5 // for tests, if all queries are test queries
)

// planSplits decides from the splits that have queries.
func planSplits(train, dev, test bool) splitPlan {
	switch {
	case train && dev && test:
		return splitPlan{why: "as in the files"}
	case train && test:
		return splitPlan{draw: map[nq.Split]float64{nq.Dev: devShare}, from: nq.Train, why: "a tenth of the train queries, drawn at random, is used for development"}
	case train && dev:
		return splitPlan{become: map[nq.Split]nq.Split{nq.Dev: nq.Test}, draw: map[nq.Split]float64{nq.Dev: devShare}, from: nq.Train,
			why: "the development queries are the test, and a tenth of the train queries, drawn at random, is used for development"}
	case train:
		return splitPlan{draw: map[nq.Split]float64{nq.Dev: devShare, nq.Test: testShare}, from: nq.Train, why: "drawn at random from the train queries"}
	case dev && test:
		return splitPlan{become: map[nq.Split]nq.Split{nq.Dev: nq.Train}, draw: map[nq.Split]float64{nq.Dev: devShare}, from: nq.Train,
			why: "there are no train queries: development queries are used for training, except a tenth kept for development"}
	case dev || test:
		return splitPlan{become: map[nq.Split]nq.Split{nq.Dev: "", nq.Test: ""}, draw: map[nq.Split]float64{nq.Dev: devShare, nq.Test: mostly},
			why: "there are only test queries: half of them stay, the others are used for training; numbers are not those of the whole test set"}
	}
	return splitPlan{draw: map[nq.Split]float64{nq.Dev: devShare, nq.Test: testShare}, why: "drawn"}
}

// shares is the shares to draw, as HCL; "": none.
func (p splitPlan) shares() string {
	var list []string
	for _, s := range collect.Splits() {
		if share := p.draw[s]; share > 0 {
			list = append(list, fmt.Sprintf("%s = %v", s, share))
		}
	}
	if list == nil {
		return ""
	}
	return "{ " + strings.Join(list, ", ") + " }"
}

// as is the file's role under a plan.
func (p splitPlan) as(f corpusFile) nq.Split {
	if s, ok := p.become[f.Split]; ok && f.Split != "" {
		return s
	}
	return f.Split
}
