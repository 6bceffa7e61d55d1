// Package capacity says what this process has of its machine for steps, by the system,
// its control groups and its batch job, and admits steps as long as what they ask for, cards too, fits beside
// those that run. Nothing is enforced: a request is believed. It must not know steps, queues or the
// command line.
package capacity
