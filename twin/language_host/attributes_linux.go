package main

import "syscall"

// processAttributes gives a child its own group, and has the kernel kill it should this host be killed. (The
// kernel watches the thread that starts the child; threads of the Go runtime stay.)
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
