// Package prose links the numbers in a paper's text with the cells that they come from: the file
// of numbers that LaTeX reads (numbers.tex, with redsi.sty), and a reader of LaTeX that finds
// numbers typed by hand, references to cells that do not exist, changed cells, and tables that
// are not included.
//
// It owns both and the rule for matching a number with a cell. It must not know how cells are
// made: it is given their names, printed forms and words about them.
package prose
