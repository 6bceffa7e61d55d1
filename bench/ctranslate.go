package main

import "fmt"

// ctranslateLines are searches of 8 queries at once beside CTranslate2, in float32 as ours and in int8.
var ctranslateLines = []line{
	besideCTranslate("beam40_vs_ctranslate2", "a query's search with 40 beams for 6 tokens", 40, "float32", 1),
	besideCTranslate("beam40_vs_ctranslate2_int8", "the same in float32", 40, "int8", 0),
	inType("beam40_bf16_vs_ctranslate2_int8", "bfloat16", "bf16", 40, 1),
	inType("beam40_int8_vs_ctranslate2_int8", "int8", "int8", 40, 1),
	besideCTranslate("beam4_vs_ctranslate2", "the same with 4 beams", 4, "float32", 1.2),
	besideCTranslate("beam4_vs_ctranslate2_int8", "the same in float32", 4, "int8", 0),
	inType("beam4_bf16_vs_ctranslate2_int8", "bfloat16", "bf16", 4, 1),
	inType("beam4_int8_vs_ctranslate2_int8", "int8", "int8", 4, 1),
	besideCTranslate("greedy_vs_ctranslate2", "the same with one beam", 1, "float32", 1.5),
	besideCTranslate("greedy_vs_ctranslate2_int8", "the same in float32", 1, "int8", 0),
	inType("greedy_bf16_vs_ctranslate2_int8", "bfloat16", "bf16", 1, 0),
	inType("greedy_int8_vs_ctranslate2_int8", "int8", "int8", 1, 1),
}

// besideCTranslate is a line whose peer computes in a type of its own: in int8 it finds other hypotheses.
func besideCTranslate(name, doc string, beams int, kind string, target float64) line {
	return line{
		name: name, target: target, value: perUnit, sliced: true, unlike: kind != "float32", noMemory: true,
		doc:  doc + ", 8 queries at once, against CTranslate2 " + pinned(modelRequirements, "ctranslate2") + " in " + kind,
		ours: workOn("train_step.py", "beam", "-queries=8", "-early=full", fmt.Sprintf("-beams=%d", beams)),
		peer: scriptOn("models", "ctranslate.py", (*env).translators, "--type", kind, "--beams", fmt.Sprint(beams)),
	}
}

// inType is ours in another precision beside CTranslate2 in int8.
func inType(name, precision, dtype string, beams int, target float64) line {
	l := besideCTranslate(name, "the same in "+precision, beams, "int8", target)
	l.ours = workOn("train_step.py", "beam", "-queries=8", "-early=full", "-dtype="+dtype, fmt.Sprintf("-beams=%d", beams))
	return l
}

// translators is the folder of what CTranslate2 makes of train_step.py's weights.
func (e *env) translators() (string, error) {
	return e.keep("ctranslate-weights1", func(dir string) error {
		of, err := e.weights("train_step.py")
		if err != nil {
			return err
		}
		command, err := e.python("models", "ctranslate.py", dir, "--make", "--of", of)
		if err != nil {
			return err
		}
		return e.quiet(command[0], command[1:]...)
	})
}
