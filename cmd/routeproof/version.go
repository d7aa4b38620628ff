package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/spec"
)

// toolVersion is the program's own version, where its build names no other.
const toolVersion = "0.1.0"

func tool() report.Tool {
	v := toolVersion
	if info, ok := debug.ReadBuildInfo(); ok {
		if m := info.Main.Version; m != "" && m != "(devel)" {
			v = m
		}
	}
	return report.Tool{Name: "routeproof", Version: v}
}

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the versions of the program, the suite and the specification", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.out, "routeproof    %s\nsuite         %s\nspecification %s\n%s %s/%s\n",
				tool().Version, suites.Version, spec.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return harness(err)
		},
	}
}
