package suites

import ("testing";"fmt";"sort";"github.com/routeproof/routeproof/suites/mutants";"github.com/routeproof/routeproof/suites/bench")

func TestZZ(t *testing.T) {
	cs := methods[bench.Case](families...)
	ms := methods[mutants.Mutant](mutants.Catalogue{})
	killed := map[string]bool{}
	for _, m := range ms { for _, k := range m.KilledBy { killed[k]=true } }
	var miss []string
	for _, c := range cs { if !killed[c.ID] { miss = append(miss, c.ID) } }
	sort.Strings(miss)
	ids := map[string]bool{}
	for _, c := range cs { ids[c.ID]=true }
	for k := range killed { if !ids[k] { fmt.Println("unknown", k) } }
	fmt.Println(len(cs), len(ms), "no mutant:", miss)
}
