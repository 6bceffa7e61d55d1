// Package host has in its folder what redsi does with this machine: the embedded Temporal server (devserver), the
// programs of steps (command, isolation, script, secret, libraries, git), their environments (environment), folders and
// leases (scratch, lease), cards and cores (device, nvidia, cores, rates), what a batch job has of the machine
// (allocation, capacity) and how to get a job (slurm), what steps used (usage), what is told to others (telemetry,
// payload), and the second program (compute, stepio).
//
// It imports step, artifacts and internal/system. It must not know pipelines, Temporal's workflows, or what bytes mean.
//
// Begin with stepio, in which a step runs, and compute, which runs it elsewhere.
package host
