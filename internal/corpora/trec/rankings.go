package trec

import (
	"fmt"
	"io"
	"math"
	"slices"
)

// Reader yields rankings, each valid until the next one.
type Reader func(yield func(*Ranking) error) error

// Rankings reads a run from WriteRun or a step's program, grouped by query, ordered by rank. Errors name the line.
func Rankings(r io.Reader) Reader {
	return func(yield func(*Ranking) error) error {
		g, format := grouping{began: map[string]int{}, documents: map[string]int{}}, TREC
		err := Runs.lines(r, &format, func(row Row) (err error) {
			if row.Query != g.written {
				if len(g.Hypotheses) > 0 {
					err = yield(&g.Ranking)
				}
				if err == nil {
					err = g.begin(row)
				}
			}
			if err != nil {
				return err
			}
			return g.add(row)
		})
		if err == nil && len(g.Hypotheses) > 0 {
			err = yield(&g.Ranking)
		}
		if err != nil {
			return fmt.Errorf("run: %w", err)
		}
		return nil
	}
}

func Held(rankings []Ranking) Reader {
	return func(yield func(*Ranking) error) error {
		for i := range rankings {
			if err := yield(&rankings[i]); err != nil {
				return err
			}
		}
		return nil
	}
}

// ReadRun reads all rankings of a run, as Rankings does.
func ReadRun(r io.Reader) (all []Ranking, err error) {
	err = Rankings(r)(func(ranking *Ranking) error {
		all = append(all, Ranking{ranking.Query, slices.Clone(ranking.Hypotheses)})
		return nil
	})
	return all, err
}

type grouping struct {
	Ranking
	began     map[string]int // queries, by the line where they begin
	written   string         // the query as its lines have it
	rank      int
	documents map[string]int // the query's, by their lines
}

func (g *grouping) begin(row Row) (err error) {
	g.written, g.rank, g.Hypotheses = row.Query, math.MinInt, g.Hypotheses[:0]
	clear(g.documents)
	if g.Query, err = DecodeName(row.Query); err != nil {
		return err
	}
	if at, ok := g.began[g.Query]; ok {
		return fmt.Errorf("query %q began on line %d; its lines must be together", g.Query, at)
	}
	g.began[g.Query] = row.Line
	return nil
}

func (g *grouping) add(row Row) error {
	if row.Rank <= g.rank {
		return fmt.Errorf("rank \"%d\"; ranks of a query must rise", row.Rank)
	}
	g.rank = row.Rank
	if n := len(g.Hypotheses); n > 0 && row.Score > g.Hypotheses[n-1].Score {
		return fmt.Errorf("score %v at rank %d, above the score before it; order the lines by score", row.Score, row.Rank)
	}
	h, repeated, err := parseName(row.Document)
	if err != nil {
		return err
	}
	at, named := g.documents[h.Document]
	switch {
	case repeated && !named:
		return fmt.Errorf("document %q does not appear above, where it should be named first", h.Document)
	case named && !repeated:
		return fmt.Errorf("document %q is on line %d already", h.Document, at)
	case h.Document != "" && !named:
		g.documents[h.Document] = row.Line
	}
	h.Score = row.Score
	g.Hypotheses = append(g.Hypotheses, h)
	return nil
}
