// Package allocation says what a batch system (Slurm, the PBS family, LSF) has given this process of a machine, for how
// long, and how it names that. Many sites enforce none of it. Package capacity reads control groups, as pods have.
//
// It must not know what the machine has, or what the process does.
package allocation
