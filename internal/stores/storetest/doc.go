// Package storetest is for tests of and on artifact stores: a store that fails on demand (Faulty), and a real MinIO
// server (MinIO). Only tests import it.
package storetest
