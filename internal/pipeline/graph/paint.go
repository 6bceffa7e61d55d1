package graph

import (
	"cmp"
	"slices"
)

// Share is how many instances of a node have come to something.
type Share struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// outcomes are what steps of a run and of a plan come to, in the order shown, with the class that colours them.
var outcomes = []struct{ name, class string }{
	{"failed", "bad"}, {"running", "work"}, {"run", "run"}, {"resume", "resume"}, {"maybe", "maybe"}, {"ran", "done"}, {"hit", "hit"}, {"skipped", "skip"},
	{"cancelled", "skip"}, {"not started", "rest"}, {"waiting", "rest"},
}

// Class is the colour's: bad, work, run, resume, maybe, done, hit, skip or rest.
func (s Share) Class() string {
	if i := rank(s.Name); i < len(outcomes) {
		return outcomes[i].class
	}
	return "rest"
}

func rank(name string) int {
	for i, o := range outcomes {
		if o.name == name {
			return i
		}
	}
	return len(outcomes)
}

// Shares sorts counts in the order in which they are shown.
func Shares(counts map[string]int) []Share {
	var all []Share
	for name, n := range counts {
		all = append(all, Share{name, n})
	}
	slices.SortFunc(all, func(a, b Share) int {
		return cmp.Or(cmp.Compare(rank(a.Name), rank(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// Paint tells each node what became of its steps; outcome has a word for each step of New.
func (g *Graph) Paint(outcome []string) {
	counts := make([]map[string]int, len(g.Nodes))
	for i, n := range g.at {
		if i >= len(outcome) {
			break
		}
		if counts[n] == nil {
			counts[n] = map[string]int{}
		}
		counts[n][outcome[i]]++
	}
	for n := range g.Nodes {
		g.Nodes[n].Outcomes = Shares(counts[n])
	}
}

// PaintPlan is Paint for a plan's outcomes (hit, run, resume, maybe), with a legend beside the graph.
func (g *Graph) PaintPlan(outcome []string) {
	g.Paint(outcome)
	g.legend = true
}

// look is how a node with an outcome of a plan is drawn: the border tells it without colour.
type look struct {
	class, fill, stroke string
	width               float64
	dash                string // of the border, in pixels; "" for none
	means               string
}

var looks = []look{
	{"hit", "#eef5f0", "#2e8b57", 1.2, "", "hit: has its result"},
	{"run", "#fde3c8", "#c2570c", 2.5, "", "run: some must run"},
	{"resume", "#fdf3cf", "#8a6d00", 2.5, "9 3", "resume: continues from a checkpoint"},
	{"maybe", "#f3f4f6", "#6b7280", 1.2, "3 3", "maybe: known after others have run"},
}

// look is that of a node of a plan; ok is false for all others.
func (n Node) look() (look, bool) {
	for _, l := range looks {
		if len(n.Outcomes) > 0 && l.class == n.class() {
			return l, true
		}
	}
	return look{}, false
}

// done is how many of a node's steps have a result.
func (n Node) done() (done, all int) {
	for _, s := range n.Outcomes {
		all += s.Count
		if s.Name == "ran" || s.Name == "hit" {
			done += s.Count
		}
	}
	return done, all
}

// class colours a painted node: by the first of its outcomes that is to be looked at.
func (n Node) class() string {
	if len(n.Outcomes) == 0 {
		return n.Block
	}
	if done, all := n.done(); done < all && n.Outcomes[0].Class() == "done" { // some are to come
		return "some"
	}
	return n.Outcomes[0].Class()
}
