// Package bert is encoders of BERT's type as transformers 4.44.1 computes them, for embedding documents and queries
// (google/bert_uncased_L-8_H-512_A-8 and others): BERT and MiniLM, RoBERTa and XLM-R, DistilBERT, MPNet, ELECTRA. Their
// vectors are [CLS], or the mean or the largest of the last hidden states.
//
// They differ in names, in where positions begin, and in what is added to the scores: families.go lists that.
//
// Sequences are never padded: a batch is packed, [T, hidden] with T the number of real tokens, which changes no result.
//
// It knows of tokens and parameters, not of tokenizers, documents or clustering.
package bert
