package rates

import "github.com/redsi/redsi/step"

// Documents and TrainQueries are the sizes of the paper's largest collection, NQ320K-Title.
const (
	Documents    = 109_739
	TrainQueries = 307_373
)

// V100 returns what the paper prints of the card that it used, a V100 of 16 GB with transformers: T5-Base makes 900,000
// updates in 74.5 hours with naive identifiers and in 79.1 with semantic identifiers, and 65,000 in 6.8 with atomic
// identifiers, evaluations included. It prints nothing about other models and other work.
func V100() Rates {
	base := func(identifiers string, updates, hours float64) Rate {
		return Rate{Unit: step.Updates, Shape: "t5-base", Identifiers: identifiers, PerSecond: updates / (hours * 3600)}
	}
	return Rates{Format: format, Device: "V100 paper", Card: true, Memory: 16e9, Evaluated: true,
		Rates: []Rate{base("naive", 900_000, 74.5), base("semantic", 900_000, 79.1), base("atomic", 65_000, 6.8)}}
}
