package main

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/util/flowcontrol"
)

// Requests per second and bursts. On a real cluster a hundred kubelets have a hundred machines; here they share two
// processor cores with the scheduler. So while many pods are being bound, what kubelets report waits a little:
// the time until pods are bound stays that of the control plane alone. A burst lets ordinary loads through at once.
const (
	controlQPS  = 200
	statusQPS   = 80
	statusBurst = 60
	busyQPS     = 4
	eventQPS    = 20
	eventBurst  = 40

	busyWindow = time.Second
	busyBinds  = 25
)

// traffic counts how many pods were bound lately.
type traffic struct {
	mu    sync.Mutex
	since time.Time
	binds int
	until time.Time
}

// bound notes that a pod was bound to a node.
func (t *traffic) bound(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.since) > busyWindow {
		t.since, t.binds = now, 0
	}
	t.binds++
	if t.binds >= busyBinds {
		t.until = now.Add(busyWindow)
	}
}

func (t *traffic) busy(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return now.Before(t.until)
}

// pacer is a client's rate limiter with a slower pace while pods are being bound in numbers.
type pacer struct {
	flowcontrol.RateLimiter
	slow    flowcontrol.RateLimiter
	traffic *traffic
}

func newPacer(traffic *traffic, qps float32, burst int) *pacer {
	return &pacer{flowcontrol.NewTokenBucketRateLimiter(qps, burst), flowcontrol.NewTokenBucketRateLimiter(busyQPS, 1), traffic}
}

// Wait returns when the next request may be sent.
func (p *pacer) Wait(ctx context.Context) error {
	if err := p.RateLimiter.Wait(ctx); err != nil {
		return err
	}
	for p.traffic.busy(time.Now()) && !p.slow.TryAccept() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(busyWindow / 10):
		}
	}
	return nil
}
