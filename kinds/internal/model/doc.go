// Package model has the kinds that make, train and evaluate models. It must not know how
// a collection or its identifiers came about.
package model
