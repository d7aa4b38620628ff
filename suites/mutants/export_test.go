package mutants

import "github.com/routeproof/routeproof/suites/target"

// Naive makes the index that is wrong in no way.
var Naive = target.IndexFactory(newNaive(func(*rules) {}))
