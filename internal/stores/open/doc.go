// Package open opens an artifact store by its URL. It is the one place that
// knows every kind of store.
package open
