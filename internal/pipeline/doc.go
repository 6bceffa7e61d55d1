// Package pipeline turns the text of pipelines.hcl into a Pipeline: every step, table and figure, with its configuration
// evaluated, checked against its kind and filled in, and its inputs given as references to other steps' outputs.
//
// Loading goes one way, each pass in a package that imports only earlier passes:
//
//	syntax -> language -> schema -> declare -> link -> evaluate
//
// Here are Load, which calls them in that order, and the names by which the rest of redsi knows the result.
//
// Only what a step will produce is unknown while loading, and such a value can be passed on but not compared or looked into.
// Only files() and json() look into it, by Options.Made: a step or block that they decide is pending until Made has it. The
// rest of the graph is known before anything runs.
//
// A mistake in a pipeline is a diagnostic: it has a range, says what to do, and is reported together with all others. A
// diagnostic that only follows from another one is not reported. A bug in a kind's schema is not a diagnostic.
//
// The package must not know Temporal, stores or any domain package, and reads nothing but the sources: no clock, and of the
// environment what Options gives.
package pipeline
