// Package collection has the kinds that make collections of documents out of Natural
// Questions, and look at what is in them. It must not know of identifiers or models.
package collection
