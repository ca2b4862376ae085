package main

import (
	"errors"
	"os/exec"
	"sync"
	"syscall"
)

// children are the running child processes, each the leader of a process group of its own, so that what
// they start ends with them.
type children struct {
	lock    sync.Mutex
	running map[int]struct{}
	closed  bool
}

// run starts the command and waits for its end.
func (c *children) run(command *exec.Cmd) error {
	command.SysProcAttr = processAttributes()
	if err := c.start(command); err != nil {
		return err
	}
	err := command.Wait()
	c.lock.Lock()
	defer c.lock.Unlock()
	delete(c.running, command.Process.Pid)
	return err
}

func (c *children) start(command *exec.Cmd) error {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.closed {
		return errors.New("the language host is ending")
	}
	if err := command.Start(); err != nil {
		return err
	}
	if c.running == nil {
		c.running = map[int]struct{}{}
	}
	c.running[command.Process.Pid] = struct{}{}
	return nil
}

// killAll ends all children and lets no new one start.
func (c *children) killAll() {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.closed = true
	for pid := range c.running {
		killGroup(pid)
	}
}

// kill ends one child, if it runs.
func (c *children) kill(command *exec.Cmd) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if command.Process == nil {
		return
	}
	if _, runs := c.running[command.Process.Pid]; runs {
		killGroup(command.Process.Pid)
	}
}

func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
