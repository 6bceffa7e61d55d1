package nq

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"maps"

	"github.com/redsi/redsi/internal/corpora/columns"
)

// HubLines visits a hub file's rows (NewHubReader), all or only wanted ids, as lines of the original format with the fields
// that the file has columns for. Rows are counted from one.
func HubLines(in io.ReaderAt, size int64, wanted func(id string) bool, visit func(n int, line []byte) (more bool, err error)) error {
	f, err := columns.Open(in, size)
	if err != nil {
		return err
	}
	id := f.Index("id")
	if id < 0 {
		return errors.New(`there is no column "id"`)
	}
	rows, err := f.Read([]columns.Wanted{{At: id, Kind: columns.Texts}})
	if err != nil {
		return err
	}
	defer rows.Close()
	objects, err := f.Objects()
	if err != nil {
		return err
	}
	defer objects.Close()
	for {
		if err := rows.Next(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if wanted != nil && !wanted(string(rows.Columns[0].Text)) {
			continue
		}
		row, err := objects.Row(rows.Row)
		var line []byte
		if err == nil {
			line, err = json.Marshal(original(row), json.Deterministic(true))
		}
		if err != nil {
			return fmt.Errorf("row %d: %w", rows.Row, err)
		}
		if more, err := visit(int(rows.Row), line); err != nil || !more {
			return err
		}
	}
}

// original turns a row into a line: ids become numbers, and objects of lists become lists of objects.
func original(row map[string]any) map[string]any {
	document, _ := row["document"].(map[string]any)
	question, _ := row["question"].(map[string]any)
	annotations := transposed(row["annotations"])
	for _, a := range annotations {
		a["annotation_id"] = numeral(a["id"])
		delete(a, "id")
		if short := transposed(a["short_answers"]); short != nil {
			for _, s := range short {
				delete(s, "text")
			}
			a["short_answers"] = short
		}
		if n, ok := a["yes_no_answer"].(int64); ok && n >= -1 && n <= 1 { // class labels
			a["yes_no_answer"] = [...]string{"NONE", "NO", "YES"}[n+1]
		}
	}
	tokens := transposed(document["tokens"])
	for _, t := range tokens {
		t[nameHTMLToken] = t["is_html"]
		delete(t, "is_html")
	}
	line := map[string]any{
		nameExampleID: numeral(row["id"]), nameQuestion: question["text"], nameQuestionTokens: question["tokens"],
		nameURL: document["url"], nameTitle: document["title"], nameHTML: document["html"],
		nameTokens: tokens, "annotations": annotations, "long_answer_candidates": transposed(row["long_answer_candidates"]),
	}
	maps.DeleteFunc(line, func(_ string, v any) bool {
		list, is := v.([]map[string]any)
		return v == nil || is && list == nil
	})
	return line
}

func numeral(id any) any {
	if text, ok := id.(string); ok {
		return jsontext.Value(text)
	}
	return id
}

// transposed turns an object of lists into a list of objects; nil for anything else.
func transposed(of any) []map[string]any {
	columns, ok := of.(map[string]any)
	if !ok {
		return nil
	}
	list := []map[string]any{}
	for name, column := range columns {
		values, _ := column.([]any)
		for i, v := range values {
			if i == len(list) {
				list = append(list, map[string]any{})
			}
			list[i][name] = v
		}
	}
	return list
}
