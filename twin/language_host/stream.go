package main

import (
	"context"
	"os/exec"
	"sync"
)

// stream runs the command to its end and sends what it prints; it is killed when the context ends.
func (h *host) stream(ctx context.Context, command *exec.Cmd, stdout, stderr func([]byte) error) error {
	lock := &sync.Mutex{} // a gRPC stream takes one message at a time
	command.Stdout = &sender{lock: lock, send: stdout}
	command.Stderr = &sender{lock: lock, send: stderr}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-ctx.Done():
			h.children.kill(command)
		case <-ended:
		}
	}()
	return h.children.run(command)
}

type sender struct {
	lock *sync.Mutex
	send func([]byte) error
}

func (s *sender) Write(data []byte) (int, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if err := s.send(data); err != nil {
		return 0, err
	}
	return len(data), nil
}
