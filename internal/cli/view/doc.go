// Package view prints plans and runs, for people and as JSON. It decides nothing: it shows
// values of plan and workflows.
package view
