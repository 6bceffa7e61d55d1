// Package compute is the half of words that the second program has: it may use what redsi
// itself must do without, such as C.
package compute

import (
	"bufio"
	"context"
	"encoding/json"
	"unicode/utf8"

	"example.org/own-kind/words"

	"github.com/redsi/redsi/step"
)

// Longest computes words.Longest.
var Longest = step.Compute(words.Longest, func(_ context.Context, x *step.IO, c words.LongestConfig) error {
	var longest words.LongestReport
	for _, f := range x.Files(c.Files, "text") {
		in, err := x.OpenFile(f)
		if err != nil {
			return err
		}
		all := bufio.NewScanner(in)
		all.Split(bufio.ScanWords)
		for all.Scan() {
			longest.Letters = max(longest.Letters, int64(utf8.RuneCount(all.Bytes())))
		}
		in.Close()
		if err := all.Err(); err != nil {
			return step.Permanent(err)
		}
	}
	w, err := x.Create("report")
	if err != nil {
		return err
	}
	if err := json.NewEncoder(w).Encode(longest); err != nil {
		return err
	}
	return w.Close()
})
