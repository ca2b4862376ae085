package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// store keeps on disk what a node keeps on its own disk: the output of containers and the device plugin's
// checkpoint. With it and the API server's data every simulated kubelet can be restarted at any moment.
type store struct {
	folder string
}

// containerRun is a run with the moment at which it started.
type containerRun struct {
	Start time.Time `json:"start"`
	Run   run       `json:"run"`
}

// end is the moment at which the container ends by itself; false when it does not.
func (r *containerRun) end() (time.Time, bool) {
	return r.Start.Add(r.Run.Length), !r.Run.Forever
}

func (s store) runPath(pod types.UID, container string, number int32) string {
	return filepath.Join(s.folder, string(pod), fmt.Sprintf("%s-%d.json", container, number))
}

func (s store) pluginPath(pod types.UID) string {
	return filepath.Join(s.folder, string(pod), "device-plugin.json")
}

// saveRun remembers a run. A silent run without end needs no file: that is what a missing file means.
func (s store) saveRun(pod types.UID, container string, number int32, what *containerRun) error {
	if what.Run.Forever && len(what.Run.Lines) == 0 {
		return nil
	}
	return s.save(s.runPath(pod, container, number), what)
}

// loadRun returns the number-th run of a container.
func (s store) loadRun(pod types.UID, container string, number int32) *containerRun {
	loaded := &containerRun{}
	if !s.load(s.runPath(pod, container, number), loaded) {
		return &containerRun{Run: run{Forever: true}}
	}
	return loaded
}

func (s store) savePlugin(pod types.UID, given assignment) error {
	if len(given) == 0 {
		return nil
	}
	return s.save(s.pluginPath(pod), given)
}

func (s store) loadPlugin(pod types.UID) assignment {
	given := assignment{}
	s.load(s.pluginPath(pod), &given)
	return given
}

// forget removes everything about a pod that is gone.
func (s store) forget(pod types.UID) {
	if err := os.RemoveAll(filepath.Join(s.folder, string(pod))); err != nil {
		log.Printf("removing the files of pod %s: %v", pod, err)
	}
}

// known lists the pods that have files.
func (s store) known() []types.UID {
	entries, err := os.ReadDir(s.folder)
	if err != nil {
		return nil // no pod has run yet
	}
	pods := make([]types.UID, len(entries))
	for i, entry := range entries {
		pods[i] = types.UID(entry.Name())
	}
	return pods
}

// save writes by rename, so that a kill leaves the old content or the new one.
func (s store) save(path string, what any) error {
	data, err := json.Marshal(what)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func (s store) load(path string, into any) bool {
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Printf("reading %s: %v", path, err)
	}
	return err == nil
}
