package main

import (
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// life drives one pod through time, without an API server.
type life struct {
	t      *testing.T
	pod    *corev1.Pod
	record *podRecord
	plan   *Plan
	disk   store
	now    time.Time
	events []string
	broken error
}

func newLife(t *testing.T, spec corev1.PodSpec) *life {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "d", UID: "u"}, Spec: spec}
	disk := store{t.TempDir()}
	return &life{t: t, pod: pod, record: recall(pod, disk), plan: &Plan{}, disk: disk, now: time.Now()}
}

func (l *life) step() *podStep {
	return &podStep{
		pod: l.pod, record: l.record, node: twoGPUs, plan: l.plan, now: l.now, disk: l.disk,
		prepare: func() (func(*corev1.Container) grants, error) {
			return func(*corev1.Container) grants { return grants{} }, l.broken
		},
		admit:   func() error { return nil },
		address: func() (string, error) { return "10.244.0.1", nil },
		event:   func(_, reason, _ string) { l.events = append(l.events, reason) },
	}
}

// pass lets time pass, waking the kubelet whenever it asked to be woken.
func (l *life) pass(length time.Duration) {
	l.t.Helper()
	for end := l.now.Add(length); ; {
		step := l.step()
		if err := step.advance(); err != nil {
			l.t.Fatal(err)
		}
		if step.wake == 0 || l.now.Add(step.wake).After(end) {
			l.now = end
			return
		}
		l.now = l.now.Add(step.wake)
	}
}

func (l *life) expect(phase corev1.PodPhase) {
	l.t.Helper()
	if l.record.status.Phase != phase {
		l.t.Errorf("the pod is %s, not %s: %+v", l.record.status.Phase, phase, l.record.status)
	}
}

func shell(name, script string) corev1.Container {
	return corev1.Container{Name: name, Image: "i", Command: []string{"sh", "-c", script}}
}

func TestPhases(t *testing.T) {
	never, always, onFailure := corev1.RestartPolicyNever, corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure
	sidecar := shell("side", "serve")
	sidecar.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
	cases := []struct {
		name   string
		policy corev1.RestartPolicy
		init   []corev1.Container
		main   []corev1.Container
		after  time.Duration
		phase  corev1.PodPhase
	}{
		{"success", never, nil, []corev1.Container{shell("a", "exit 0"), shell("b", "sleep 5")}, 6 * time.Second, corev1.PodSucceeded},
		{"still running", never, nil, []corev1.Container{shell("a", "exit 0"), shell("b", "sleep 5")}, 4 * time.Second, corev1.PodRunning},
		{"one failure", never, nil, []corev1.Container{shell("a", "exit 1"), shell("b", "sleep 5")}, 6 * time.Second, corev1.PodFailed},
		{"init first", never, []corev1.Container{shell("i", "sleep 5")}, []corev1.Container{shell("a", "serve")}, 4 * time.Second, corev1.PodPending},
		{"init done", never, []corev1.Container{shell("i", "sleep 5")}, []corev1.Container{shell("a", "serve")}, 6 * time.Second, corev1.PodRunning},
		{"init failed", never, []corev1.Container{shell("i", "exit 1")}, []corev1.Container{shell("a", "serve")}, time.Second, corev1.PodFailed},
		{"init tried again", always, []corev1.Container{shell("i", "exit 1")}, []corev1.Container{shell("a", "serve")}, time.Minute, corev1.PodPending},
		{"sidecar", never, []corev1.Container{sidecar}, []corev1.Container{shell("a", "sleep 1")}, 2 * time.Second, corev1.PodSucceeded},
		{"restarted for ever", always, nil, []corev1.Container{shell("a", "exit 0")}, time.Hour, corev1.PodRunning},
		{"restarted on failure", onFailure, nil, []corev1.Container{shell("a", "exit 1")}, time.Hour, corev1.PodRunning},
		{"done on success", onFailure, nil, []corev1.Container{shell("a", "exit 0")}, time.Second, corev1.PodSucceeded},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			life := newLife(t, corev1.PodSpec{RestartPolicy: c.policy, InitContainers: c.init, Containers: c.main})
			life.pass(c.after)
			life.expect(c.phase)
			for _, status := range life.record.status.InitContainerStatuses {
				if life.record.finished() && status.State.Running != nil {
					t.Errorf("%s still runs", status.Name)
				}
			}
		})
	}
}

func TestRestartsBackOff(t *testing.T) {
	life := newLife(t, corev1.PodSpec{RestartPolicy: corev1.RestartPolicyAlways, Containers: []corev1.Container{shell("a", "exit 1")}})
	counts := []int32{}
	for range 4 {
		life.pass(15 * time.Second)
		counts = append(counts, life.record.status.ContainerStatuses[0].RestartCount)
	}
	// At once, after 10 s, after 20 s more, after 40 s more.
	if !slices.Equal(counts, []int32{3, 3, 4, 4}) {
		t.Errorf("restart counts %v", counts)
	}
	if waiting := life.record.status.ContainerStatuses[0].State.Waiting; waiting == nil || waiting.Reason != reasonCrashLoop {
		t.Errorf("state %+v", life.record.status.ContainerStatuses[0].State)
	}
}

func TestNothingStartsBeforeItsDevicesAreReady(t *testing.T) {
	life := newLife(t, corev1.PodSpec{Containers: []corev1.Container{shell("a", "serve")}})
	life.broken = errors.New("not yet")
	life.pass(time.Minute)
	life.expect(corev1.PodPending)
	if !slices.Contains(life.events, "FailedPrepareDynamicResources") || life.record.status.PodIP != "" {
		t.Errorf("events %v, status %+v", life.events, life.record.status)
	}
	life.broken = nil
	life.pass(prepareRetry)
	life.expect(corev1.PodRunning)
}

func TestADeadlineEndsThePod(t *testing.T) {
	life := newLife(t, corev1.PodSpec{ActiveDeadlineSeconds: ptr.To(int64(30)), Containers: []corev1.Container{shell("a", "serve")}})
	life.pass(29 * time.Second)
	life.expect(corev1.PodRunning)
	life.pass(2 * time.Second)
	life.expect(corev1.PodFailed)
	if life.record.status.Reason != "DeadlineExceeded" || life.record.status.ContainerStatuses[0].State.Terminated == nil {
		t.Errorf("status %+v", life.record.status)
	}
}

func TestARestartTakesUpARunningContainer(t *testing.T) {
	life := newLife(t, corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{shell("a", "sleep 60; exit 4")}})
	life.pass(30 * time.Second)
	life.pod.Status = life.record.status
	life.record = recall(life.pod, life.disk)
	life.pass(20 * time.Second)
	life.expect(corev1.PodRunning)
	life.pass(20 * time.Second)
	life.expect(corev1.PodFailed)
	if code := life.record.status.ContainerStatuses[0].State.Terminated.ExitCode; code != 4 {
		t.Errorf("exit code %d", code)
	}
}

func TestGPUsOfADevicePluginAreHeldOnce(t *testing.T) {
	ledger := newPluginLedger()
	asking := func(uid string, counts ...string) *corev1.Pod {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: types.UID("u-" + uid)}}
		for i, count := range counts {
			container := shell(string(rune('a'+i)), "serve")
			container.Resources.Limits = corev1.ResourceList{gpuResource: resource.MustParse(count)}
			pod.Spec.Containers = append(pod.Spec.Containers, container)
		}
		return pod
	}
	first, err := ledger.assign(asking("1", "1", "1"), twoGPUs)
	if err != nil || !slices.Equal(append(first["a"], first["b"]...), []int{0, 1}) {
		t.Errorf("%v, %v", first, err)
	}
	if _, err := ledger.assign(asking("2", "1"), twoGPUs); err == nil {
		t.Error("a third GPU was found")
	}
	ledger.release(twoGPUs.Name, "u-1")
	if again, err := ledger.assign(asking("2", "1"), twoGPUs); err != nil || len(again["a"]) != 1 {
		t.Errorf("%v, %v", again, err)
	}
}
