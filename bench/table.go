package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/system/atomicfile"
)

// The table of all rows stands in a page between two marks.
const (
	tablePage  = "docs/performance.md"
	tableBegin = "<!-- rows: written by go run ./bench -docs, from bench/rows.jsonl -->\n"
	tableEnd   = "<!-- rows: end -->\n"
	oldMark    = "; **old**: "
	oldAfter   = 200 // commits
)

func writeTable(ctx context.Context) error {
	page, err := os.ReadFile(tablePage)
	if err != nil {
		return err
	}
	rows, err := readRows(resultsFile)
	if err != nil {
		return err
	}
	text, err := withTable(string(page), rows, func(revision string) bool {
		revision = strings.TrimSuffix(revision, "+")
		out, err := exec.CommandContext(ctx, "git", "rev-list", "--count", revision+"..HEAD").Output()
		n, invalid := strconv.Atoi(strings.TrimSpace(string(out)))
		return revision == "" || err != nil || invalid != nil || n > oldAfter
	})
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(tablePage, []byte(text), 0o644)
}

func readRows(file string) (rows []result, err error) {
	b, err := os.ReadFile(file)
	for line := range bytes.Lines(b) {
		var r result
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		rows = append(rows, r)
	}
	return rows, err
}

// withTable is the page with the table of these rows in place of the table that it has; old says which revisions are.
func withTable(page string, rows []result, old func(revision string) bool) (string, error) {
	before, rest, begins := strings.Cut(page, tableBegin)
	_, after, ends := strings.Cut(rest, tableEnd)
	if !begins || !ends {
		return "", fmt.Errorf("%s has no table between %q and %q", tablePage, tableBegin, tableEnd)
	}
	return before + tableBegin + "\n" + table(allLines(), rows, old) + "\n" + sinceReview(rows) + "\n" + tableEnd + after, nil
}

// review are the ratios of a review beside what one installed in November 2026, on 2 cores of an Intel Xeon with AMX, and the
// lines that measure the same work since then.
var review = []struct{ work, then, lines string }{
	{"40 beams, free, a query", "transformers 5.24: 2.58; CTranslate2: 0.89", "beam40_vs_transformers beam40_vs_ctranslate2 beam40_vs_ctranslate2_int8 beam40_bf16_vs_ctranslate2_int8 beam40_int8_vs_ctranslate2_int8"},
	{"40 beams along a trie", "a dict a prefix: 4.4; a vectorized processor: 3.3", "trie40_vs_transformers"},
	{"40 best of 100,000 atomic identifiers", "transformers: 1.63; head of the documents: 1.31, in bf16 0.81", "atomic_eval_vs_transformers atomic_eval_bf16_vs_transformers"},
	{"BERT L-8 H-512, a document", "transformers: 1.11; in bf16: 0.36", "bert_embed bert_embed_bf16 bert_embed_int8"},
	{"training step of T5 Tiny, 128 x 32", "float32: 1.91; autocast: 1.59, compiled 1.37; our own bf16 beside our float32: 0.85", "train_step_vs_transformers train_step_bf16_vs_transformers train_step_bf16_vs_fp32"},
	{"the same, lengths of NQ", "float32: 2.89; autocast: 2.37", "train_step_real_lengths_vs_transformers train_step_bf16_real_lengths_vs_transformers"},
	{"BM25, a query of 200,000 passages", "Lucene 10.5: 2.3; PISA: 1.1", "bm25_vs_lucene bm25_vs_pisa"},
	{"k-means, 20,000 x 512, 10 clusters", "scikit-learn: 0.99; faiss: 3.0", "kmeans_vs_sklearn"},
}

// sinceReview is the table of these ratios and of those in rows, each beside the fastest peer of its line.
func sinceReview(rows []result) string {
	text := "| work | a review before | now |\n|---|---|---|\n"
	for _, r := range review {
		var now []string
		for name := range strings.FieldsSeq(r.lines) {
			for _, row := range rows {
				if row.Name == name {
					now = append(now, fmt.Sprintf("`%s` %.2f", name, row.Ratio))
				}
			}
		}
		text += fmt.Sprintf("| %s | %s | %s |\n", r.work, r.then, strings.Join(now, ", "))
	}
	return text
}

// table has a row for each line, with a peer's memory behind its time, and below it when and where they were measured.
func table(lines []line, rows []result, old func(revision string) bool) string {
	var b strings.Builder
	var runs []session
	named := func(name string) (r result, ok bool) {
		i := slices.IndexFunc(rows, func(r result) bool { return r.Name == name })
		if i < 0 {
			return r, false
		}
		return rows[i], true
	}
	b.WriteString("| line | what | floor | ours / the peer | ratio | the peer, and slower ones with their ratios | |\n|---|---|---|---|---|---|---|\n")
	for _, l := range lines {
		r, ok := named(l.name)
		if !ok && l.asked {
			continue
		}
		floor, figures, ratio, peers, run := "", "", "not measured", "", ""
		if l.target > 0 {
			floor = fmt.Sprintf("%.3g", l.target)
		}
		if ok {
			figures, ratio = fmt.Sprintf("%.4g / %.4g %s", r.Ours, r.Peer, r.Unit), fmt.Sprintf("%.2f", r.Ratio)
			if m, ok := named(l.name + "_memory"); ok {
				figures, ratio = figures+fmt.Sprintf("; %.4g / %.4g %s", m.Ours, m.Peer, m.Unit), ratio+fmt.Sprintf("; %.2f", m.Ratio)
			}
			if r.OursTraffic != nil && r.PeerTraffic != nil {
				figures += "; " + r.OursTraffic.beside(r.PeerTraffic)
			}
			switch {
			case r.Ratio < l.target:
				ratio += ", **below**"
			case r.Ratio < 1 && l.target == 0:
				ratio += ", **behind**"
			}
			peers = r.Against
			for _, o := range r.Others {
				peers += fmt.Sprintf("; %s: %.2f", o.Is, o.Ratio)
			}
			at := slices.Index(runs, r.session)
			if at < 0 {
				at, runs = len(runs), append(runs, r.session)
			}
			run = "[" + strconv.Itoa(at+1) + "]"
		}
		cells := []string{"`" + l.name + "`", l.doc, floor, figures, ratio, peers, run}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	b.WriteString("\nWhere measured, with time first and memory after it:\n\n")
	for i, s := range runs {
		mark := ""
		if old(s.Revision) {
			mark = oldMark + strconv.Itoa(oldAfter) + " commits and more came since"
		}
		fmt.Fprintf(&b, "- [%d] %s%s\n", i+1, s.said(), mark)
	}
	return b.String()
}
