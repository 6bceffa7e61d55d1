// Package estimate says what the steps of a plan that have no result are expected to
// take, from what such steps took before. What has no history is counted as unknown,
// never as nothing.
package estimate
