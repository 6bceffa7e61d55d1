// Package view prints plans and runs, for people and as JSON. It decides
// nothing: what it shows are values of plan and workflows.
package view
