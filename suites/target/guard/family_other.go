//go:build unix && !linux

package guard

import "syscall"

// seesAll: family knows the process group only.
const seesAll = false

// becomeReaper does nothing: only Linux has subreapers. A descendant that leaves
// the target's process group is not found on this system.
func becomeReaper() error { return nil }

func nameSelf() {}

func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// family is the target's process group as far as it can be told: the target alone;
// the group gets its signal as a group.
func family(target int) []int {
	if target == 0 || syscall.Kill(-target, 0) != nil {
		return nil
	}
	return []int{target}
}

// marked finds nothing: other systems do not show a process's environment.
func marked(string) []int { return nil }

// orphans finds nothing: a lost guard's processes are left to init.
func orphans(uint64) (alive []int, reaped int) { return nil, 0 }

func beganAt(int) uint64 { return 0 }
