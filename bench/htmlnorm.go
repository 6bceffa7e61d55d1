package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"

	"github.com/redsi/redsi/assets/tokenizers"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/serialize"
	"github.com/redsi/redsi/internal/corpora/tokenize"
	"github.com/redsi/redsi/internal/model/subword"
)

// htmlRecords is how many records the lines of this group serialize.
const htmlRecords = "50"

var htmlLines = []line{
	{
		name: "htmlnorm_vs_python", takes: 16, target: 10, value: throughput,
		doc:  "HtmlNorm of records in memory, one thread, against the same rules with BeautifulSoup and lxml; the texts are equal",
		ours: onCorpus("serialize", "-limit="+htmlRecords, shardFile), peer: besideOnCorpus("htmlnorm.py", "--limit="+htmlRecords, shardFile),
	},
}

// serializeRecords writes the records of a file in one form. Work is bytes of document_html; only serializing is timed.
func serializeRecords(args []string) (sample, error) {
	var s sample
	set := flag.NewFlagSet("", flag.ExitOnError)
	form := set.String("form", string(serialize.HtmlNorm), "")
	limit := set.Int("limit", 1<<30, "")
	set.Parse(args) // an error ends the process
	ser, done, err := newSerializer(serialize.Form(*form))
	if err != nil {
		return s, err
	}
	defer done()
	records, err := firstRecords(set.Arg(0), *limit)
	if err != nil {
		return s, err
	}
	texts := sha256.New()
	for _, r := range records {
		lap := stopwatch()
		t, err := ser.Document(r)
		s.Seconds += lap()
		if err != nil {
			return s, err
		}
		s.Work += float64(len(r.HTML))
		io.WriteString(texts, t.String()+"\x00")
	}
	s.Check = fmt.Sprintf("%d texts, sha256 %s", len(records), hex.EncodeToString(texts.Sum(nil))[:16])
	return s, nil
}

func firstRecords(name string, limit int) (records []*nq.Record, err error) {
	in, err := openTimes(name, 1)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	rd := nq.NewReader(in, name, nq.Options{Split: nq.Train, Format: nq.Full})
	defer rd.Close()
	for r, err := range each(rd.Next) {
		if err != nil || len(records) == limit {
			return records, err
		}
		records = append(records, r.Clone())
	}
	return records, nil
}

func newSerializer(form serialize.Form) (*serialize.Serializer, func(), error) {
	t5, err := subword.NewT5(tokenizers.T5)
	if err != nil {
		return nil, nil, err
	}
	bert, err := tokenize.NewBERT(tokenizers.BERTUncased)
	if err != nil {
		return nil, nil, err
	}
	s, err := serialize.New(form, serialize.Defaults(), serialize.Tools{HasUnknown: t5.HasUnknown, BertNormalize: bert.Normalize})
	return s, func() { t5.Close() }, err
}
