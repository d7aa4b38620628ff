// Package certify runs the suite: it splits the jobs over child processes
// ("shards"), each with its own ports, target and fleet, collects what they
// report, and writes report.json and junit.xml. A shard that crashes is a
// finding, not the end of the run. It judges nothing itself.
package certify
