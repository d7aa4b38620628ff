// Package filestore keeps a discovery.Store in the files of one directory, which
// many processes share, on one host or over a network mount.
//
// # Format
//
// One record is one file in the root directory itself. Its name is the key, with
// every byte but A-Z, a-z, 0-9, "-" and "_" written as "%" and two upper-case
// hexadecimal digits, the slash too: the key workers/w0/7.1 is the file
// workers%2Fw0%2F7%2E1. A name has at most 255 bytes. Other spellings are no records.
//
// The file begins with one line of JSON, which is followed by the value, byte for
// byte:
//
//	{"ttl":3000,"owner":"5f0c…","size":95}
//
// ttl is how long the record lives without a keep-alive, in milliseconds, and is the
// owner's; 0 is for ever. owner is a random name of the owner's lease, at most 64
// bytes. size is that of the value in bytes; a file that is shorter or longer is not
// whole.
//
// Names that begin with a dot are not records: ".tmp-" and 16 hexadecimal digits is a
// file that is being written, and ".lock" is what writers lock.
//
// # Life of a record
//
// A record is created by writing a temporary file and linking it to its name, so
// that one of many creators wins, and changed by renaming a temporary file over it.
// Changes, but not creation and keep-alive, are made under an flock of ".lock". An
// owner keeps its record alive by setting the file's modification time to the file
// system's present every third of its time to live. Nothing is synced to disk: a
// record does not have to survive a crash of the machine.
//
// A reader trusts no clock but its own monotonic one: a record lives as long as its
// modification time or its content changes within its time to live, whatever those
// times say. At the first look there is nothing to compare with; then a record lives
// whose last change is at most half its time to live ago by the clock of the file
// system, which the reader learns by making a file; any other must change first,
// which takes a live owner a third of its time to live. Where the reader may not make files,
// everything counts as just changed. A single List without a watch on the same Store
// has the same limits as the first look.
//
// Expired records are removed by whoever watches and may, after twice their time to
// live and a second. An owner whose record was removed or replaced loses its lease.
//
// # Watching
//
// A watch looks at the directory again and again, four times within the shortest
// time to live and at least once a second; so it needs no notification, but gets
// faster by it. The root may be a symbolic link, or lie behind some, and may be
// replaced while it is watched. While the root cannot be read, and while its file
// system has become read-only, what was known stays; while it does not exist, what was
// known expires.
package filestore
