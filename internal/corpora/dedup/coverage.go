package dedup

import "iter"

// Coverage says how far train supervises the targets of dev (section "Qualitative Analysis of NQ320K").
type Coverage struct {
	DevTargets   int     `json:"dev_targets"`            // distinct documents of dev queries
	InTrain      int     `json:"in_train"`               // of these, documents of train queries too
	Percent      float64 `json:"percent" unit:"percent"` // InTrain of DevTargets: supervision coverage
	TrainQueries int     `json:"train_queries"`          // train queries whose target is a dev target
	DevQueries   int     `json:"dev_queries"`            // dev queries whose target is in train
}

// Coverage counts over the documents.
func (g *Grouping) Coverage() Coverage { return CoverageOf(g.queries) }

// CoverageOf counts over documents, given by their numbers of train and dev queries.
func CoverageOf(queries iter.Seq2[int32, int32]) Coverage {
	var c Coverage
	for train, dev := range queries {
		if dev == 0 {
			continue
		}
		c.DevTargets++
		c.TrainQueries += int(train)
		if train > 0 {
			c.InTrain++
			c.DevQueries += int(dev)
		}
	}
	c.Percent = percent(c.InTrain, c.DevTargets)
	return c
}

// percent is 100 n/of, 0 of none.
func percent(n, of int) float64 { return 100 * float64(n) / float64(max(1, of)) }
