// Package storetest holds what tests of and on artifact stores share: a store that fails on
// demand (Faulty), and a real MinIO server (MinIO).
//
// It is imported by tests only.
package storetest
