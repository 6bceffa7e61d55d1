// Package general has the kinds that any paper needs: files that are downloaded, and
// programs of the user's own. It must not know what is in the files.
package general
