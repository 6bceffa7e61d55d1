package report

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/paper/attest"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

// Node is a step as lineages show it.
type Node struct {
	Index    int                   `json:"-"` // in the plan
	Detailed bool                  `json:"-"` // else only address, kind, outcome and cost
	Address  string                `json:"step"`
	Kind     string                `json:"kind"`
	Outcome  plan.Outcome          `json:"outcome"`
	Key      string                `json:"key,omitempty"`
	Run      string                `json:"run,omitempty"`
	Workflow string                `json:"workflow,omitempty"`
	TookS    float64               `json:"took_s"`
	Bytes    int64                 `json:"bytes"`
	Config   []Leaf                `json:"config,omitempty"` // of the key's preimage, without inputs
	Inputs   []Edge                `json:"inputs,omitempty"`
	Outputs  []Output              `json:"outputs,omitempty"`
	Counts   map[string]int64      `json:"counts,omitempty"`
	Env      map[string]string     `json:"env,omitempty"`      // of the worker
	Notes    map[string]string     `json:"notes,omitempty"`    // about this run of the step
	Used     *artifacts.Used       `json:"used,omitempty"`     // on the machine that ran it
	Packages []environment.Package `json:"packages,omitempty"` // of its environment, after ReadPackages
	Place    string                `json:"place"`              // file:line
	Failed   bool                  `json:"-"`                  // its last run under this key failed
	Rebuilt  *attest.Told          `json:"rebuilt,omitempty"`

	// Accepted is why the result is valid for the key; nil if it was computed under it.
	Accepted *artifacts.Acceptance `json:"accepted,omitempty"`

	// Further data of the preview.
	key    artifacts.Digest
	config []byte // of the task, as the plan has it
	result *artifacts.Result
	lacks  []string // see Item
	waits  []string // for a table or figure without a result: the steps that must run first
	deps   []int    // if it is not detailed
}

// Leaf is one value of a configuration.
type Leaf struct {
	Path  string `json:"path"`
	Value string `json:"value"` // JSON
}

// Edge is an input of a step.
type Edge struct {
	Path   string `json:"path"` // attribute that reads it
	Step   string `json:"step"`
	Output string `json:"output"`
	Digest string `json:"digest,omitempty"` // "" before the producer has run
	Index  int    `json:"-"`                // of the producer's node
}

// Output is an output of a step.
type Output struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Size    int64  `json:"size"`
	Digest  string `json:"digest"`
	Files   int    `json:"files,omitempty"`
	Preview string `json:"-"`
}

// Nodes describes every step of a preview, in the plan's order. Nothing else of a report reads a preview's steps.
func Nodes(v *plan.Preview) ([]Node, error) { return nodesOf(v, func(int) bool { return true }) }

func nodesOf(v *plan.Preview, detailed func(i int) bool) ([]Node, error) {
	index := map[string]int{}
	for i, s := range v.Plan.Steps {
		index[s.Address] = i
	}
	nodes := make([]Node, len(v.Items))
	for i, s := range v.Plan.Steps {
		it, n := v.Items[i], &nodes[i]
		*n = stepNode(v, i)
		if n.Detailed = detailed(i); !n.Detailed {
			n.deps = s.Deps
			continue
		}
		n.Place = s.Pos.String()
		if !it.Key.IsZero() {
			n.Key = it.Key.String()
		}
		var err error
		if n.Config, err = configOf(it.Preimage, s.Task); err != nil {
			return nil, err
		}
		if n.Inputs, err = edgesOf(v, s.Task, index); err != nil {
			return nil, err
		}
		if r := it.Result; r != nil {
			n.Run, n.Workflow, n.TookS = r.Origin.RunID, r.Origin.WorkflowID, r.Took.Seconds()
			n.Counts, n.Bytes = r.Counts, r.Bytes()
			n.Env, n.Notes = notesOf(r.Env)
			n.Used = r.Used
			for _, name := range slices.Sorted(maps.Keys(r.Outputs)) {
				a := r.Outputs[name]
				n.Outputs = append(n.Outputs, Output{Name: name, Type: a.Type, Size: a.Size, Digest: a.Digest.String(), Files: len(a.Files)})
			}
		}
	}
	return nodes, nil
}

// stepNode returns step i of a preview without the data that only lineages show.
func stepNode(v *plan.Preview, i int) Node {
	s, it := v.Plan.Steps[i], v.Items[i]
	n := Node{Index: i, Address: s.Address, Kind: s.Task.Kind, Outcome: it.Outcome, TookS: it.Took.Seconds(), Bytes: it.Bytes, Accepted: it.Accepted,
		key: it.Key, config: s.Task.Config, result: it.Result}
	if s.IsRendered() {
		n.lacks = v.Plan.Addresses(v.LacksOf(i))
	}
	if s.IsRendered() && it.Result == nil {
		n.waits = v.Plan.Addresses(it.Snags().Waits)
	}
	return n
}

// notesOf separates the records about a step's run from the records about its worker.
func notesOf(all map[string]string) (env, notes map[string]string) {
	for name, text := range all {
		to := &env
		if note, ok := strings.CutPrefix(name, step.NotePrefix); ok {
			name, to = note, &notes
		}
		if *to == nil {
			*to = map[string]string{}
		}
		(*to)[name] = text
	}
	return env, notes
}

func edgesOf(v *plan.Preview, t step.Task, index map[string]int) ([]Edge, error) {
	tree, err := t.Tree()
	if err != nil {
		return nil, err
	}
	var edges []Edge
	_, err = step.MapInputs(tree, func(path string, in step.Input) (step.Input, error) {
		if in.Ref == nil {
			return in, nil
		}
		e := Edge{Path: path, Step: in.Ref.Step, Output: in.Ref.OutputName(), Index: index[in.Ref.Step]}
		if r := v.Items[e.Index].Result; r != nil {
			a, err := in.Ref.In(r.Outputs[in.Ref.Output])
			if err != nil {
				return in, err
			}
			e.Digest = a.Digest.String()
		}
		edges = append(edges, e)
		return in, nil
	})
	slices.SortStableFunc(edges, func(a, b Edge) int { return strings.Compare(a.Path, b.Path) })
	return edges, err
}

// configOf flattens the configuration in a key's preimage or, before the key is determined, the task's own.
func configOf(preimage []byte, t step.Task) ([]Leaf, error) {
	if preimage == nil {
		var tree any
		err := json.Unmarshal(t.Config, &tree)
		return leaves(nil, "", tree), err
	}
	var pre struct{ Config any }
	err := json.Unmarshal(preimage, &pre)
	return leaves(nil, "", pre.Config), err
}

// leaves appends the values of a tree in the order of their paths, without inputs, which are edges.
func leaves(out []Leaf, path string, v any) []Leaf {
	switch v := v.(type) {
	case map[string]any:
		for _, marker := range []string{"$input", "$ref", "$artifact"} {
			if _, ok := v[marker]; ok {
				return out
			}
		}
		for _, n := range slices.Sorted(maps.Keys(v)) {
			at := n
			if path != "" {
				at = path + "." + n
			}
			out = leaves(out, at, v[n])
		}
		return out
	case []any:
		if !slices.ContainsFunc(v, nested) {
			break
		}
		for i, e := range v {
			out = leaves(out, path+"["+strconv.Itoa(i)+"]", e)
		}
		return out
	case nil:
		return out
	}
	b, _ := json.Marshal(withoutCredentials(v)) // v came from JSON
	return append(out, Leaf{path, string(b)})
}

// withoutCredentials returns a scalar or a list of scalars, without credentials in texts.
func withoutCredentials(v any) any {
	switch v := v.(type) {
	case string:
		return fetch.Redact(v)
	case []any:
		return append([]any{}, lists.Map(v, withoutCredentials)...)
	}
	return v
}

func nested(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// Source is an artifact that a number was read from, with the step that left it.
type Source struct {
	Digest string   `json:"digest"`
	Step   string   `json:"step,omitempty"`
	Output string   `json:"output,omitempty"`
	Path   string   `json:"path,omitempty"`   // attribute of the table or figure that reads it
	Fields []string `json:"fields,omitempty"` // of the JSON that the number was read from; in a tree FILE:FIELD
	Same   bool     `json:"same,omitempty"`   // another step has the same bytes: the number comes from either
	Index  int      `json:"-"`
}

// sources finds the inputs of node i with the digests, in their order, and all inputs with the same bytes.
func sources(nodes []Node, i int, digests []string) []Source {
	type producer struct{ digest, step, output string }
	var out []Source
	edges, seen := map[string][]Edge{}, map[producer]bool{}
	for _, e := range nodes[i].Inputs {
		edges[e.Digest] = append(edges[e.Digest], e)
	}
	for _, d := range lists.Unique(digests) {
		first := len(out)
		for _, e := range edges[d] {
			if p := (producer{d, e.Step, e.Output}); !seen[p] {
				out = append(out, Source{Digest: d, Step: e.Step, Output: e.Output, Path: e.Path, Same: len(out) > first, Index: e.Index})
				seen[p] = true
			}
		}
		if len(out) == first {
			out = append(out, Source{Digest: d, Index: -1})
		}
	}
	return out
}

// upstream lists the steps that the given ones come from, including themselves, nearest first.
func upstream(nodes []Node, from []int) (out []int) {
	seen := map[int]bool{}
	for len(from) > 0 {
		i := from[0]
		from = from[1:]
		if i < 0 || seen[i] {
			continue
		}
		seen[i] = true
		out = append(out, i)
		from = slices.Concat(from, lists.Map(nodes[i].Inputs, func(e Edge) int { return e.Index }), nodes[i].deps)
	}
	return out
}

// Upstream lists the nodes that a table or figure comes from, including itself.
func (r *Report) Upstream(it *Item) []int { return upstream(r.Nodes, []int{it.Index}) }

// Attested fills in the attestations of results.
func Attested(ctx context.Context, book *attest.Book, nodes []Node) error {
	stands := map[int]artifacts.Digest{}
	for i, n := range nodes {
		if n.result != nil && book.Has(n.key) {
			stands[i] = n.result.OutputsDigest()
		}
	}
	_, err := attested(ctx, book, nodes, stands)
	return err
}

// attested counts results' attestations, by nodes and the digests of their outputs, and fills them into detailed nodes.
func attested(ctx context.Context, book *attest.Book, nodes []Node, stands map[int]artifacts.Digest) (total attest.Total, err error) {
	for i, outputs := range stands {
		told, err := book.Of(ctx, nodes[i].key, outputs)
		if err != nil {
			return total, err
		}
		total.Add(told)
		if nodes[i].Detailed {
			nodes[i].Rebuilt = told
		}
	}
	return total, nil
}

func outputsOf(r *artifacts.Result) map[string]artifacts.Artifact {
	if r == nil {
		return nil
	}
	return r.Outputs
}

// Bounds of the data that the page shows.
const (
	previewed    = 256 << 10 // bytes of an artifact that is opened
	previewChars = 800
)

// preview fills in the beginnings of small outputs that are text.
func preview(ctx context.Context, n *Node, read Reader) error {
	if n.result != nil && n.result.Released {
		return nil
	}
	for k := range n.Outputs {
		o := &n.Outputs[k]
		if n.result.Outputs[o.Name].Files != nil || o.Size > previewed || strings.HasPrefix(o.Type, "figure/") || strings.HasPrefix(o.Type, "table/") || o.Type == curveType {
			continue
		}
		b, err := expect.ReadOutput(ctx, n.result, o.Name, read)
		if err != nil {
			return err
		}
		if utf8.Valid(b) && !slices.ContainsFunc([]rune(string(b[:min(len(b), 4096)])), func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' && c != '\r' }) {
			o.Preview = words.Clip(string(b), previewChars)
		}
	}
	return nil
}
