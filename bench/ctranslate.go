package main

import (
	"fmt"
	"slices"
)

// ctranslateLines are searches of 8 queries at once beside CTranslate2, in float32 as ours and in int8.
var ctranslateLines = slices.Concat(
	besideCTranslate("beam40", "a query's search with 40 beams for 6 tokens", 40, 1, 1, 1, 8),
	besideCTranslate("beam4", "the same with 4 beams", 4, 1.2, 1, 1, 4),
	besideCTranslate("greedy", "the same with one beam", 1, 1.5, 0, 1, 4))

// besideCTranslate are the lines of one search, with the targets of ours in float32, bfloat16 and int8. In int8 the peer
// finds other hypotheses.
func besideCTranslate(search, doc string, beams int, float, bfloat, int8, takes float64) []line {
	of := func(name, doc, dtype, peer string, target float64) line {
		return line{
			name: search + name, target: target, takes: takes, value: perUnit, sliced: true, unlike: peer != "float32", noMemory: true,
			doc:  doc + ", 8 queries at once, against CTranslate2 " + pinned(modelRequirements, "ctranslate2") + " in " + peer,
			ours: workOn("train_step.py", "beam", "-queries=8", "-early=full", "-dtype="+dtype, fmt.Sprintf("-beams=%d", beams)),
			peer: scriptOn("models", "ctranslate.py", (*env).translators, "--type", peer, "--beams", fmt.Sprint(beams)),
		}
	}
	return []line{
		of("_vs_ctranslate2", doc, "fp32", "float32", float),
		of("_vs_ctranslate2_int8", "the same in float32", "fp32", "int8", 0),
		of("_bf16_vs_ctranslate2_int8", "the same in bfloat16", "bf16", "int8", bfloat),
		of("_int8_vs_ctranslate2_int8", "the same in int8", "int8", "int8", int8),
	}
}

// translators is the folder of what CTranslate2 makes of train_step.py's weights.
func (e *env) translators() (string, error) {
	return e.keep("ctranslate-weights1", func(dir string) error {
		of, err := e.weights("train_step.py")
		if err != nil {
			return err
		}
		return e.script("models", "ctranslate.py", dir, "--make", "--of", of)
	})
}
