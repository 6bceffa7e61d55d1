// Package npy reads and writes NumPy's .npy of two-dimensional floats: rows of vectors, such as embeddings, at once as a
// Matrix or row by row. It must not know what the vectors represent.
package npy
