package checklist

import (
	"encoding/json"
	"slices"

	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/pipeline/questions"
)

// Format names the form of a checklist in JSON.
const Format = "redsi-checklist/1"

// Input is the data that answers are written from.
type Input struct {
	List       questions.List
	Said       pipeline.Checklist         // people's own answers
	Vars       map[string]json.RawMessage // of the pipeline
	Plan       *plan.Plan
	Report     *report.Report
	Spent      *usage.Spent
	Parameters map[string][]int64    // model sizes, by block
	Packages   []environment.Package // of environments
	Command    func(verb string, args ...string) string
}

// Checklist is a filled list.
type Checklist struct {
	Format    string       `json:"format"`
	Name      string       `json:"checklist"`
	Title     string       `json:"title"`
	Source    string       `json:"source"`
	Paper     string       `json:"paper,omitempty"`
	Pipeline  string       `json:"pipeline"`
	Scales    []string     `json:"scales"`
	Other     bool         `json:"other_scale"`     // a scale differs from the paper's
	Apart     string       `json:"apart,omitempty"` // what keeps this from being a reproduction, in a sentence
	Steps     int          `json:"steps"`
	Done      int          `json:"steps_with_results"`
	Questions []Question   `json:"questions"`
	Commands  []Command    `json:"commands"`
	Spent     *usage.Spent `json:"spent"`
	Blank     int          `json:"blank"` // unanswered questions
}

// Question is one question with its answers.
type Question struct {
	Number  string   `json:"number"`
	Section string   `json:"section,omitempty"`
	Title   string   `json:"title"`
	Answers []Answer `json:"answers"`
	Blank   bool     `json:"blank"` // it has no answer
}

// Answer is a part of an answer. A blank one says what is unknown.
type Answer struct {
	Text  string `json:"text"`
	From  string `json:"from,omitempty"` // its origin
	Blank bool   `json:"blank,omitempty"`
}

// Fill answers a checklist as far as possible.
func Fill(in Input) *Checklist {
	r, judged := in.Report, in.Report.Judged.Summary()
	c := &Checklist{Format: Format, Name: in.List.Name, Title: in.List.Title, Source: in.List.Source, Paper: r.Paper.Title, Pipeline: r.Pipeline,
		Scales: append([]string{}, judged.Scales...), Other: r.Other, Apart: judged.Apart, Steps: len(r.Nodes), Done: r.Summary.Hit, Spent: in.Spent, Commands: commands(in)}
	f := facts{Input: in, commands: c.Commands}
	topics := map[questions.Topic][]Answer{}
	for _, q := range in.List.Questions {
		x := Question{Number: q.Number, Section: q.Section, Title: q.Title, Answers: []Answer{}}
		s, said := in.Said.Answers[in.List.Name][q.Number]
		if said {
			x.Answers = append(x.Answers, Answer{Text: s.Text, From: place(s.Pos)})
		}
		for _, t := range q.About {
			if _, ok := topics[t]; !ok {
				topics[t] = f.about(t)
			}
			x.Answers = append(x.Answers, topics[t]...)
		}
		if q.Ask != "" && !said {
			x.Answers = append(x.Answers, blank(q.Ask))
		}
		if x.Blank = !slices.ContainsFunc(x.Answers, func(a Answer) bool { return !a.Blank }); x.Blank {
			c.Blank++
		}
		c.Questions = append(c.Questions, x)
	}
	return c
}
