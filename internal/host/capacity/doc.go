// Package capacity says what this process has of its machine for steps, by the system, its control groups and its batch
// job, and admits steps as long as what they ask for, cards too, fits beside the running steps. Nothing is enforced:
// requests are believed. It must not know steps, queues or the command line.
package capacity
