// Package hours says how long the steps of a plan that are not hits take on cards of some
// sort, and what that costs: from what such steps took on such a card, else by computation
// (internal/host/roofline). It owns what of a plan a computation is made of: which model, how many
// documents and queries, where results do not say yet. It must not know libtorch, kinds, or
// how anything is printed.
package hours
