package drawn

import "fmt"

// Numbers is a linear congruential generator; its value is the seed.
type Numbers uint64

// Below is the next number, from 0 to n-1.
func (d *Numbers) Below(n int) int {
	*d = *d*6364136223846793005 + 1442695040888963407
	return int(*d>>33) % n
}

// Sequences returns n sequences of low to high tokens.
func (d *Numbers) Sequences(n, low, high int) [][]int32 {
	all := make([][]int32, n)
	for i := range all {
		for range low + d.Below(high-low+1) {
			all[i] = append(all[i], int32(2+d.Below(32000)))
		}
	}
	return all
}

// Identifiers returns n different sequences of three tokens and </s>.
func (d *Numbers) Identifiers(n int) [][]int32 {
	seen := make(map[[3]int32]bool, n)
	var out [][]int32
	for len(out) < n {
		var id [3]int32
		for i := range id {
			id[i] = int32(2 + d.Below(1100))
		}
		if !seen[id] {
			seen[id] = true
			out = append(out, append(id[:], 1))
		}
	}
	return out
}

// Examples returns n inputs and labels in training's mix: a quarter documents of 32 tokens, else queries of 8 to 16.
func (d *Numbers) Examples(n int) (inputs, labels [][]int32) {
	for range n {
		low, high := 8, 16
		if d.Below(4) == 0 {
			low, high = 32, 32
		}
		inputs = append(inputs, d.Sequences(1, low, high)...)
		labels = append(labels, d.Sequences(1, 4, 8)...)
	}
	return inputs, labels
}

// Texts returns n documents for BERT: two thirds of its maximal length, the others of at least 100 tokens.
func (d *Numbers) Texts(n int) (texts [][]int32) {
	for i := range n {
		low := 512
		if i%3 == 2 {
			low = 100
		}
		texts = append(texts, d.Sequences(1, low, 512)...)
	}
	return texts
}

// Batch returns a training's 128 inputs and labels: "full" has documents of 32 tokens, "real" a quarter of them and
// queries of 8 to 16, "atomic" longer documents with one-token labels.
func Batch(lengths string) (inputs, labels [][]int32) {
	d := Numbers(1)
	switch lengths {
	case "full":
		return d.Sequences(128, 32, 32), d.Sequences(128, 8, 8)
	case "real":
		return append(d.Sequences(32, 32, 32), d.Sequences(96, 8, 16)...), d.Sequences(128, 4, 8)
	case "atomic":
		return append(d.Sequences(32, 64, 64), d.Sequences(96, 8, 16)...), d.Sequences(128, 1, 1)
	}
	panic(fmt.Sprintf("lengths %q; want full, real or atomic", lengths))
}
