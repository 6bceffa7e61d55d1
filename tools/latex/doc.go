// Package latex reads the tables of a LaTeX source: their layout and their cells.
package latex
