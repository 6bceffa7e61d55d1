// Package mediawiki asks a wiki for the pages of revisions: action=query of MediaWiki's Action API, with up to 50
// revisions a request, one request at a time. It keeps the answers in a file until all are there, so that a later process
// continues after the last answer.
//
// It owns the requests, the checks of answers, and that file. It must not know records, dumps, steps or stores.
package mediawiki
