// Package prose joins the numbers of a paper's text with the cells that they come from:
// the file of numbers that LaTeX reads (numbers.tex, by redsi.sty), and a reader of LaTeX
// that finds numbers typed by hand, references to cells that are not there, cells that
// have changed, and tables that are not included.
//
// It owns both and the rule by which a number is taken for a cell. It must not know how
// cells are made: it has their names, what is printed of them and words about them.
package prose
