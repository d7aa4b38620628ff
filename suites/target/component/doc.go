// Package component speaks to an adapter: a program around a library, in any
// language, that answers operations in lines of JSON (component.md one folder up,
// component.schema.json here). Client is our end of the conversation; Launch starts
// an adapter as a process that cannot outlive us.
//
// The client believes nothing: a line that is not what its operation's answer must
// be, an answer that nobody asked for, that comes twice or too late, is a *Fault,
// which shows the line and ends the conversation.
package component

// Protocol is the version spoken here.
const Protocol = 1

// MaxLine is the most bytes of a line, its line feed not counted.
const MaxLine = 16 << 20
