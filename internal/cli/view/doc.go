// Package view prints what verbs found, for people and as JSON: plans, runs, what is in stores and where it comes from. It decides
// nothing: it shows values that other packages found.
package view
