// Package open opens an artifact store by its URL. Only this package knows every kind of store.
package open
