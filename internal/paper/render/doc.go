// Package render lays tables out as Markdown, LaTeX (booktabs, as the paper has them), CSV and JSON, draws figures as
// SVG, PDF and PNG, and compares their numbers with the numbers that a paper prints.
//
// It owns layout, number formats, bold rules, drawing and expectations. It must not know where numbers come from: cells
// and points arrive as values.
package render
