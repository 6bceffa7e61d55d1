package collection

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/ranking/significance"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// SharesConfig estimates the paper's shares from a part of the records.
type SharesConfig struct {
	Train      step.Inputs        `hcl:"train" accepts:"nq/headers" help:"headers of the training records that there are"`
	Dev        step.Inputs        `hcl:"dev" accepts:"nq/headers" help:"headers of the development records"`
	Records    step.Inputs        `hcl:"records" accepts:"nq/records" help:"the development records in full, whose tokens are compared with their HTML"`
	Pages      step.Input         `hcl:"pages" accepts:"wikipedia/pages" help:"revisions and their PageIDs"`
	Tokenizer  step.Inputs        `hcl:"tokenizer" accepts:"files" help:"bert-base-uncased tokenizer.json"`
	A          step.Input         `hcl:"a" accepts:"nq/corpus" help:"NciNorm of the documents by title"`
	B          step.Input         `hcl:"b" accepts:"nq/corpus" help:"HtmlNorm of the same documents"`
	T5         step.Inputs        `hcl:"t5_tokenizer" accepts:"files" help:"T5 tokenizer.json"`
	Variation  step.Input         `hcl:"variation" accepts:"dedup/variation" help:"report of a revision_variation step of the same records"`
	Fractions  map[string]float64 `hcl:"fractions" help:"which part of all records of train and of dev these are, above 0 and at most 1, which is all of them"`
	Paper      map[string]string  `hcl:"paper,optional" help:"by share, what the paper prints, in percent: \"3.47\" stands for what rounds to it, and \"109739/315203\" for that ratio of counts; a share that is not named has no verdict"`
	Confidence float64            `hcl:"confidence,optional" above:"0.5" below:"1" help:"of each interval or, where a share grows or falls with the records, of its one limit"`
	Samples    int                `hcl:"samples,optional" min:"100" max:"1000000" help:"draws of the bootstrap"`
	Seed       int                `hcl:"seed,optional" min:"0" help:"for the draws"`
}

var Shares = step.Define(step.Kind[SharesConfig]{
	Name:    "shares",
	Version: 2,
	Doc: `Say what a part of the records says of the shares that the paper prints.
shares.NAME of the report has value, low and high in percent, clusters, how, paper and
verdict. Intervals are percentiles of a cluster bootstrap over pages; pages that share a
title are one cluster, and each split is drawn by itself. How a share can be compared with
the paper's: "random part", it estimates the paper's (inside, outside); "whole", it is the
paper's, up to rounding, and has no interval (inside, outside); "grows with the records"
and "falls with the records", it bounds the paper's from one side (consistent, outside);
"documents by their records", it weighs documents with many records more than the paper
does (inside; outside, where not even that explains it); else cannot be told, as where
fewer than 10 clusters have a thing, or lack it.
Names: substituted, unresolved, affected_train, affected_dev, coverage_title,
coverage_page_id, differ, unknown_a, unknown_b, documents, texts, and
documents_SPLIT_KEY of text4k, url, title and page_id. docs/expectations.md has the
formulas. Cost: reading the development records once, as substitutions does, and clusters
x samples x shares: seconds for one training file of 50, minutes for 25. Memory: about 1 KB a
record.`,
	Example: `step "shares" "nq" {
  train        = step.extract.train.headers
  dev          = step.extract.dev.headers
  records      = step.extract.dev.records
  pages        = step.pages.nq.table
  tokenizer    = step.download.bert_tokenizer.files
  a            = step.serialize.nq["title/nci_norm"].corpus
  b            = step.serialize.nq["title/html_norm"].corpus
  t5_tokenizer = step.download.t5_tokenizer.files
  variation    = step.revision_variation.nq.report
  fractions    = { train = 1 / 50, dev = 1 }
  paper        = { substituted = "3.47", affected_train = "1.62" }
}`,
	Outputs:  []step.Output{{Name: "report", Type: "nq/shares", Help: "each share, its interval and what it says of the paper's, as JSON", Fields: step.FieldsOf[sharesReport]().With("shares", shareNames()...)}},
	Defaults: SharesConfig{Confidence: 0.95, Samples: 10_000, Seed: 42},
	Needs:    step.Tokenizers,
	Check: inout.Checks(func(c SharesConfig, ps *step.Problems) {
		for _, s := range bothSplits {
			f := c.Fractions[string(s)]
			inout.Check(ps, "fractions", f > 0 && f <= 1, "%s: want a number above 0 and at most 1, got %v", s, f)
		}
		for name, f := range c.Fractions {
			inout.Check(ps, "fractions", slices.Contains(bothSplits, nq.Split(name)), "there is no split %q with the fraction %v: train and dev", name, f)
		}
		for name, text := range c.Paper {
			at := fmt.Sprintf("paper[%q]", name)
			inout.Check(ps, at, slices.Contains(shareNames(), name), "is no share; the shares are %v", shareNames())
			_, err := readPrinted(text)
			inout.CheckError(ps, at, err)
		}
	}),
})

type sharesReport struct {
	Shares     map[string]share `json:"shares"`
	Records    map[string]int   `json:"records"` // by split
	Confidence float64          `json:"confidence"`
	Samples    int              `json:"samples"`
}

var bothSplits = []nq.Split{nq.Train, nq.Dev}

// countedKeys are the operators whose documents are counted.
var countedKeys = []string{"text4k", "url", "title", "page_id"}

type counting struct {
	name     string
	how      how
	weighted bool // a record of a split stands for 1/fraction of them
	both     bool // what counts in one split depends on the other's records
}

// countings are all shares but texts, which is no sum over records.
func countings() []counting {
	list := []counting{
		{name: "substituted", how: part},
		{name: "unresolved", how: part, weighted: true},
		{name: "affected_train", how: grows, both: true}, {name: "affected_dev", how: grows, both: true},
		{name: "coverage_title", how: grows, both: true}, {name: "coverage_page_id", how: grows, both: true},
		{name: "differ", how: documents, both: true}, {name: "unknown_a", how: documents, both: true}, {name: "unknown_b", how: documents, both: true},
		{name: "documents", how: falls, both: true},
	}
	for _, s := range bothSplits {
		list = append(list, lists.Map(countedKeys, func(k string) counting { return counting{name: documentsName(s, k), how: falls} })...)
	}
	return list
}

func documentsName(s nq.Split, key string) string { return fmt.Sprintf("documents_%s_%s", s, key) }

// textsShare is texts to revisions, which depends on the number of records both ways.
const textsShare = "texts"

func shareNames() []string {
	return append(lists.Map(countings(), func(c counting) string { return c.name }), textsShare)
}

type PrefixShare struct{ Differ, UnknownA, UnknownB bool }

type sums map[nq.Split]*struct{ above, below []float64 }

type shareCounter struct {
	records  *dedup.Records
	clusters []int32           // of each record, numbered within its split
	n        map[nq.Split]int  // clusters
	sums     map[string]sums   // by share
	at       map[nq.Key]int    // records
	title    *dedup.Grouping   // whose documents have texts
	groups   []*dedup.Grouping // of countedKeys
}

// add adds a record's part to the sums of a share.
func (c *shareCounter) add(share string, record int, above, below float64) {
	split := c.records.Split(record)
	if c.sums[share] == nil {
		c.sums[share] = sums{}
	}
	s := c.sums[share][split]
	if s == nil {
		n := c.n[split]
		s = &struct{ above, below []float64 }{make([]float64, n), make([]float64, n)}
		c.sums[share][split] = s
	}
	s.above[c.clusters[record]] += above
	s.below[c.clusters[record]] += below
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// WriteShares writes the report; texts are by the numbers of the documents by title.
func WriteShares(ctx context.Context, x *step.IO, c SharesConfig, texts []PrefixShare) error {
	counter, err := groupForShares(x, c)
	if err != nil {
		return err
	}
	if len(texts) != counter.title.Len() {
		return step.Permanent(fmt.Errorf("a and b have %d documents, the records %d by title: give serializations of the collection that dedup makes of these records by key title, with its defaults", len(texts), counter.title.Len()))
	}
	if err := counter.count(texts); err != nil {
		return err
	}
	if err := counter.countTokens(ctx, x, c.Records); err != nil {
		return err
	}
	var variation variationReport
	if err := inout.ReadJSON(x, c.Variation, &variation); err != nil {
		return err
	}
	return inout.WriteReport(x, counter.report(c, variation), map[string]int{"records": counter.records.Len()})
}

func groupForShares(x *step.IO, c SharesConfig) (*shareCounter, error) {
	src, err := dedupSources(x, c.Tokenizer, c.Pages)
	if err != nil {
		return nil, err
	}
	groups, err := grouped(x, c.Train, c.Dev, src, dedup.Options{RecordOrder: dedup.DevFirst}, countedKeys...)
	if err != nil {
		return nil, err
	}
	title, page := groups[slices.Index(countedKeys, "title")], groups[slices.Index(countedKeys, "page_id")]
	counter := &shareCounter{records: title.Records, groups: groups, title: title, n: map[nq.Split]int{}, sums: map[string]sums{}, at: map[nq.Key]int{}}
	of, n := dedup.Clusters(title, page)
	within := map[nq.Split][]int32{nq.Train: make([]int32, n), nq.Dev: make([]int32, n)} // numbers in a split, plus one
	counter.clusters = make([]int32, len(of))
	for i, cluster := range of {
		s := counter.records.Split(i)
		if within[s][cluster] == 0 {
			counter.n[s]++
			within[s][cluster] = int32(counter.n[s])
		}
		counter.clusters[i] = within[s][cluster] - 1
		counter.at[nq.Key{Split: s, ID: counter.records.At(i).ExampleID}] = i
	}
	return counter, nil
}

func (c *shareCounter) count(texts []PrefixShare) error {
	titles, err := dedup.DiagnoseTitles(c.title)
	if err != nil {
		return step.Permanent(err)
	}
	for i, affected := range titles.AffectedRecords() {
		c.add("unresolved", i, one(c.records.PageID(i) == 0), 1)
		c.add("affected_"+string(c.records.Split(i)), i, one(affected), 1)
	}
	for k, key := range countedKeys {
		for doc, members := range c.groups[k].Members() {
			train := one(c.records.Split(int(members[len(members)-1])) == nq.Train) // development records come first
			seen := map[nq.Split]bool{}
			for n, record := range members {
				i, split := int(record), c.records.Split(int(record))
				c.add(documentsName(split, key), i, one(!seen[split]), 1)
				if coverage := "coverage_" + key; split == nq.Dev && !seen[split] && slices.Contains(shareNames(), coverage) {
					c.add(coverage, i, train, 1)
				}
				seen[split] = true
				if key != "title" {
					continue
				}
				c.add("documents", i, one(n == 0), 1) // by the record that represents the document
				if t := texts[doc]; n == 0 {
					c.add("differ", i, one(t.Differ), 1)
					c.add("unknown_a", i, one(t.UnknownA), 1)
					c.add("unknown_b", i, one(t.UnknownB), 1)
				}
			}
		}
	}
	return c.records.Err()
}

func (c *shareCounter) countTokens(ctx context.Context, x *step.IO, records step.Inputs) error {
	var s nq.Substitutions
	n := 0
	err := eachRecord(ctx, x, records, func(r *nq.Record) error {
		i, ok := c.at[r.Key()]
		if !ok || r.Split != nq.Dev {
			return step.Permanent(fmt.Errorf("records: example %d of %s is not one of dev: give the records of the extract step whose headers dev are", r.ExampleID, r.Split))
		}
		n++
		compared, mismatches := s.Compared, s.Mismatches
		s.Add(r)
		c.add("substituted", i, float64(s.Mismatches-mismatches), float64(s.Compared-compared))
		return nil
	})
	if err == nil && n != c.records.Count(nq.Dev) {
		err = step.Permanent(fmt.Errorf("records: there are %d, and %d headers in dev: give the records of the extract step whose headers dev are", n, c.records.Count(nq.Dev)))
	}
	return err
}

func (c *shareCounter) report(config SharesConfig, variation variationReport) sharesReport {
	rep := sharesReport{Shares: map[string]share{}, Records: map[string]int{}, Confidence: config.Confidence, Samples: config.Samples}
	complete, all := true, 0.0
	for _, s := range bothSplits {
		n, f := c.records.Count(nq.Dev), config.Fractions[string(s)]
		if s == nq.Train {
			n = c.records.Count(nq.Train)
		}
		rep.Records[string(s)] = n
		complete = complete && f == 1
		all += float64(n) / f
	}
	fraction := float64(c.records.Len()) / all // of both splits
	for k, counted := range countings() {
		how, read := counted.how, complete || !counted.both // all the records that count
		var strata []significance.Stratum
		for _, s := range bothSplits {
			sum := c.sums[counted.name][s]
			if sum == nil {
				continue
			}
			f := config.Fractions[string(s)]
			read = read && f == 1
			stratum := significance.Stratum{Above: sum.above, Below: sum.below, Fraction: f}
			if counted.weighted {
				stratum.Weight = 1 / f
			}
			if how == documents {
				stratum.Fraction = fraction
			}
			strata = append(strata, stratum)
		}
		if read {
			how = entire
		}
		rep.Shares[counted.name] = estimate(strata, how, config, uint64(k))
	}
	texts := share{Value: 100 * float64(variation.Texts) / float64(max(1, variation.Revisions)), How: string(neither), Clusters: c.n[nq.Train] + c.n[nq.Dev]}
	if complete {
		texts.How = string(entire)
	}
	rep.Shares[textsShare] = texts
	excess := 0.0 // by how much more documents there are to a record here
	if p, err := readPrinted(config.Paper["documents"]); err == nil {
		excess = rep.Shares["documents"].Value / p.value
	}
	for name, s := range rep.Shares {
		if text, ok := config.Paper[name]; ok {
			p, _ := readPrinted(text) // checked
			s.judge(p, excess)
			rep.Shares[name] = s
		}
	}
	return rep
}

// how a share of some records compares with the share of all records.
type how string

const (
	entire    how = "whole"
	part      how = "random part"
	grows     how = "grows with the records"
	falls     how = "falls with the records"
	documents how = "documents by their records"
	neither   how = "grows and falls with the records"
)

const (
	inside     = "inside"
	outside    = "outside"
	consistent = "consistent"
	untold     = "cannot be told"
)

// fewest clusters must have a thing, and as many lack it, for percentiles of their draws to mean something.
const fewest = 10

type share struct {
	Value    float64  `json:"value" unit:"percent"`
	Low      *float64 `json:"low" unit:"percent"` // null: no limit, as where all records were read
	High     *float64 `json:"high" unit:"percent"`
	Clusters int      `json:"clusters"` // with records that count, in splits that vary if there is one
	How      string   `json:"how"`      // it compares with the paper's
	Paper    *float64 `json:"paper" unit:"percent"`
	Verdict  string   `json:"verdict"` // "" without the paper's

	rare string // says that too few of the clusters that vary have it, or lack it; "": enough do
}

func estimate(strata []significance.Stratum, h how, c SharesConfig, stream uint64) share {
	s := share{How: string(h)}
	has, lacks, fixed := 0, 0, 0 // clusters that vary; others
	for _, st := range strata {
		for i, below := range st.Below {
			switch {
			case below == 0:
			case st.Fraction == 1:
				fixed++
			default:
				s.Clusters++
				has += int(one(st.Above[i] > 0))
				lacks += int(one(st.Above[i] < below))
			}
		}
	}
	switch {
	case s.Clusters == 0:
		s.Clusters = fixed
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

// judge compares the share with the paper's. excess is documents per record here, divided by the paper's; 0: unknown.
func (s *share) judge(p printed, excess float64) {
	s.Paper = &p.value
	limit := func(of *float64) float64 {
		if of == nil { // all records were read
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
		// A document is here with a chance of at least the fraction f of the records, and for f of the paper's
		// documents there are excess x f here: the sum over documents that have a thing is at most that many times
		// the paper's.
		if excess > 0 && (above(100-(100-low)*excess) || below(high*excess)) {
			s.Verdict = outside
		}
	default:
		s.Verdict = outside
	}
}

// printed is a number of the paper in percent, with half a unit of its last digit.
type printed struct{ value, half float64 }

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
