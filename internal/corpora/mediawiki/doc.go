// Package mediawiki asks a wiki which pages revisions belong to: action=query of MediaWiki's
// Action API, with up to 50 revisions a request, one request at a time. It keeps what was
// answered in a file until all is there, so that a process that ended is continued at its last
// request.
//
// It owns the requests, what is refused of answers, and that file. It must not know records,
// dumps, steps or stores.
package mediawiki
