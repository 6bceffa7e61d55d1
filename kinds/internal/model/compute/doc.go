// Package compute has the halves of kinds of package model that the second program computes.
package compute
