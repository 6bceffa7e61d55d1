// Package prose links the numbers in a paper's text with the cells that they come from. It owns the file of numbers that
// LaTeX reads (numbers.tex, with redsi.sty), a reader of LaTeX that finds numbers typed by hand, references to cells that
// do not exist, changed cells, and tables that are not included, and the rule for matching a number with a cell.
//
// It must not know how cells are computed: it is given their names, printed forms and words about them.
package prose
