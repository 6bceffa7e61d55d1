// Package ids has the kinds that give documents identifiers, and the embeddings that
// semantic ones are made from. It must not know of the models that will generate them.
package ids
