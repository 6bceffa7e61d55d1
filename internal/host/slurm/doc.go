// Package slurm owns the pilots of a site: what a pilot asks for, the script that it runs, and the calls of Slurm 22.05
// and later that submit, list and cancel pilots, no more often than sites like.
//
// It must not know steps, or how many pilots they need.
package slurm
