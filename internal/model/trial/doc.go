// Package trial measures how fast a device does the work of steps, with random weights of true
// sizes and the code that steps use: updates of a training, searches, rankings and embeddings. What it
// finds are internal/host/rates. It must not know where these are kept, or for whom.
package trial
