package report

import (
	"context"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/plan"
)

// CellList has the traceable cells of a table or figure.
type CellList struct {
	Address string     `json:"address"`
	Rows    int        `json:"rows"`    // of a figure: points
	Columns int        `json:"columns"` // of a figure: x and y
	Cells   []CellName `json:"cells"`
}

// CellName is a cell with the name that redsi trace takes.
type CellName struct {
	Name  string   `json:"name"` // ADDRESS:CELL
	Text  string   `json:"text"` // as it is printed
	Value *float64 `json:"value,omitempty"`
}

// Cells lists the cells of a table or figure, row by row.
func Cells(ctx context.Context, v *plan.Preview, read Reader, address string) (*CellList, error) {
	_, it, err := renderedItem(ctx, v, read, address)
	if err != nil {
		return nil, err
	}
	l := &CellList{Address: address, Cells: []CellName{}}
	rows := map[string]bool{}
	for _, c := range it.named() {
		rows[c.Row] = true
		l.Cells = append(l.Cells, CellName{address + ":" + c.Name, c.Text, c.Cell.Value})
	}
	if l.Rows = len(rows); l.Rows > 0 {
		l.Columns = len(l.Cells) / l.Rows
	}
	return l, nil
}

// NotRunError is the error for a table or figure without a result.
type NotRunError struct {
	Address string
	Waits   []string // the steps that must run first
}

func (e *NotRunError) Error() string {
	if len(e.Waits) == 0 {
		return e.Address + " has not run"
	}
	return e.Address + " has not run; it is waiting for " + strings.Join(e.Waits, ", ")
}

// renderedItem reads the table or figure of an address, with the nodes of the plan.
func renderedItem(ctx context.Context, v *plan.Preview, read Reader, named string) ([]Node, *Item, error) {
	nodes, err := Nodes(v)
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(nodes, func(n Node) bool { return n.Address == named })
	if i < 0 || !address.Of(named).IsRendered() {
		return nil, nil, &UnknownCell{named, "there is no such table or figure"}
	}
	it, err := loadItem(ctx, &nodes[i], read)
	if err == nil && it.State != Done {
		err = &NotRunError{named, it.Waits}
	}
	return nodes, it, err
}
