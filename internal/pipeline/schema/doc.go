// Package schema compares a body with the attributes that it may have, and makes a configuration of it.
// What a kind refuses comes back with the place of the value. It knows neither which blocks there are
// nor what their values mean. It imports syntax, language, step. Begin at Shape, then Reader.Body.
package schema
