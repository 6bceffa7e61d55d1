package main

import "slices"

// allLines are the lines in the order in which they are measured.
func allLines() []line {
	return slices.Concat(startLines, environmentLines, dagLines, filledLines, nqLines, stubLines, htmlLines, kmeansLines, bm25Lines, dedupLines, scoreLines, launchLines, modelLines, cardLines)
}
