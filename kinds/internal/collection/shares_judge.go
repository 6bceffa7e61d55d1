package collection

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/ranking/significance"
	"github.com/redsi/redsi/internal/system/words"
)

// how a share of some records can be compared with that of all.
type how string

const (
	entire    how = "whole"
	part      how = "random part"
	grows     how = "grows with the records"
	falls     how = "falls with the records"
	documents how = "documents by their records"
	neither   how = "grows and falls with the records"
)

// What a share says of the paper's.
const (
	inside     = "inside"
	outside    = "outside"
	consistent = "consistent"
	untold     = "cannot be told"
)

// fewest clusters that must have a thing, and lack it, for percentiles of their draws to
// mean something.
const fewest = 10

// share is what was counted, and what it says.
type share struct {
	Value    float64  `json:"value" unit:"percent"`
	Low      *float64 `json:"low" unit:"percent"` // null: no limit, as of a share that was read whole
	High     *float64 `json:"high" unit:"percent"`
	Clusters int      `json:"clusters"` // with records that count; of a split that varies, where one does
	How      string   `json:"how"`      // it can be compared
	Paper    *float64 `json:"paper" unit:"percent"`
	Verdict  string   `json:"verdict"` // "" without the paper's

	rare string // that so few clusters that vary have it, or lack it; "": enough do
}

// estimate draws a share's interval.
func estimate(strata []significance.Stratum, h how, c SharesConfig, stream uint64) share {
	s := share{How: string(h)}
	has, lacks, whole := 0, 0, 0
	for _, st := range strata {
		for i, below := range st.Below {
			switch {
			case below == 0:
			case st.Fraction == 1:
				whole++
			default:
				s.Clusters++
				has += int(one(st.Above[i] > 0))
				lacks += int(one(st.Above[i] < below))
			}
		}
	}
	switch {
	case s.Clusters == 0:
		s.Clusters = whole
	case has < fewest:
		s.rare = words.Of(has, "1 cluster has it", fmt.Sprintf("%d clusters have it", has))
	case lacks < fewest:
		s.rare = words.Of(lacks, "1 cluster lacks it", fmt.Sprintf("%d clusters lack it", lacks))
	}
	confidence := c.Confidence
	if h == grows || h == falls {
		confidence = 2*confidence - 1 // of the two sides, of which one is used
	}
	value, low, high := significance.Ratio(strata, c.Samples, uint64(c.Seed)<<8|stream, confidence)
	if math.IsNaN(value) { // no record counts
		s.How = string(neither)
		return s
	}
	s.Value = 100 * value
	low, high = 100*low, 100*high
	if h != falls && h != entire {
		s.Low = &low
	}
	if h != grows && h != entire {
		s.High = &high
	}
	return s
}

// judge compares the share with the paper's. excess is how many documents to a record there
// are for one in the paper; 0: not known.
func (s *share) judge(p printed, excess float64) {
	s.Paper = &p.value
	limit := func(of *float64) float64 {
		if of == nil { // of a share that was read whole
			return s.Value
		}
		return *of
	}
	const slack = 1e-9 // of doubles
	above := func(low float64) bool { return low > p.value+p.half+slack }
	below := func(high float64) bool { return high < p.value-p.half-slack }
	low, high := limit(s.Low), limit(s.High)
	differs := above(low) || below(high)
	s.Verdict = untold
	switch h := how(s.How); {
	case h == neither:
	case s.rare != "":
		s.How = s.rare
	case h == grows && !above(low), h == falls && !below(high):
		s.Verdict = consistent
	case h == grows, h == falls:
		s.Verdict = outside
	case !differs:
		s.Verdict = inside
	case h == documents:
		// A document is here with a chance of at least the fraction f of the records, and for
		// f of the paper's documents there are excess x f here: the sum over documents that
		// have a thing is at most that many times the paper's.
		if excess > 0 && (above(100-(100-low)*excess) || below(high*excess)) {
			s.Verdict = outside
		}
	default:
		s.Verdict = outside
	}
}

// printed is a number of the paper in percent, with half a unit of its last digit.
type printed struct{ value, half float64 }

// readPrinted reads a decimal number, or a ratio of two counts.
func readPrinted(text string) (printed, error) {
	wrong := fmt.Errorf("%q is neither a number, such as 3.47, nor a ratio of counts, such as 109739/315203", text)
	if a, b, ratio := strings.Cut(text, "/"); ratio {
		n, err := strconv.ParseUint(a, 10, 53)
		of, errOf := strconv.ParseUint(b, 10, 53)
		if err != nil || errOf != nil || of == 0 {
			return printed{}, wrong
		}
		return printed{value: 100 * float64(n) / float64(of)}, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	_, digits, _ := strings.Cut(text, ".")
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) || strings.ContainsAny(text, "eExX_") {
		return printed{}, wrong
	}
	return printed{v, 0.5 * math.Pow10(-len(digits))}, nil
}
