package main

import "slices"

// allLines are the lines in the order in which they are measured.
func allLines() []line {
<<<<<<< HEAD
	return slices.Concat(dagLines, filledLines, nqLines, stubLines, htmlLines, kmeansLines, bm25Lines, dedupLines, modelLines)
=======
	return slices.Concat(dagLines, filledLines, nqLines, stubLines, htmlLines, kmeansLines, dedupLines, scoreLines, modelLines)
>>>>>>> h-score
}
