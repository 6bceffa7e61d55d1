// Package questions lists what conferences' checklists ask, by their official numbers, in
// words of our own. It must not know how any is answered.
package questions
