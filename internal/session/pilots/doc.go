// Package pilots owns which pilots of a site steps need: the sort that holds a step, and how many jobs of each to
// submit. It is functions of what it is given; it must not call Slurm, or know how a run is followed.
package pilots
