// Package words counts words: a step kind that redsi does not have.
package words
