//go:build !linux

package main

import "syscall"

// processAttributes gives a child its own group.
func processAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
