// Package npy is NumPy's .npy of two-dimensional floats: rows of vectors, such as embeddings,
// whole as a Matrix or row by row. It must not know what the vectors are of.
package npy
