package main

import (
	"context"
	"log"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

// planFile follows a plan file that is replaced by rename, and keeps the last good content.
type planFile struct {
	path    string
	current atomic.Pointer[Plan]
	changed func()
	problem string
}

// newPlanFile returns a follower that starts with an empty plan; nothing is carried out before `known`.
func newPlanFile(path string) *planFile {
	return &planFile{path: path, changed: func() {}}
}

// known tells whether a plan has been read. Until then no node may be removed.
func (f *planFile) known() bool {
	return f.current.Load() != nil
}

// get returns the current plan; an empty one while none has been read.
func (f *planFile) get() *Plan {
	if plan := f.current.Load(); plan != nil {
		return plan
	}
	return &Plan{}
}

// read loads the file once. A bad file is logged in one line, and the last good plan stays.
func (f *planFile) read() {
	plan, err := loadPlan(f.path)
	if err != nil {
		if f.problem != err.Error() {
			f.problem = err.Error()
			log.Printf("plan ignored, the last good one stays: %v", err)
		}
		return
	}
	f.problem = ""
	f.current.Store(plan)
	f.changed()
}

// follow reads the file whenever its folder changes. The folder is watched and not the file, because a rename
// puts another file in its place.
func (f *planFile) follow(ctx context.Context) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer watcher.Close()
	if err := watcher.Add(filepath.Dir(f.path)); err != nil {
		return err
	}
	// A lost notification must not leave the cluster behind its plan for ever.
	late := time.NewTicker(30 * time.Second)
	defer late.Stop()
	f.read()
	for {
		select {
		case <-ctx.Done():
			return nil
		case event := <-watcher.Events:
			if filepath.Clean(event.Name) == filepath.Clean(f.path) && !event.Has(fsnotify.Chmod) {
				f.read()
			}
		case err := <-watcher.Errors:
			log.Printf("watching the plan: %v", err)
		case <-late.C:
			f.read()
		}
	}
}
