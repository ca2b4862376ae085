package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// Bounds of a simulated program: beyond them it counts as one that runs until it is stopped.
const (
	maxCalls       = 2000
	maxOutput      = 1 << 20
	maxVirtualTime = 30 * 24 * time.Hour
	smiTime        = 300 * time.Millisecond
	shortestRun    = 200 * time.Millisecond
)

// Exit codes of the field: what a shell and containerd report for a command that is not there.
const (
	exitNotFound   = 127
	exitStartError = 128
)

// run is everything that one start of a container does: what it prints at which moment, when it ends and how.
// It is worked out once, when the container starts, on a clock of its own.
type run struct {
	Lines   []line        `json:"lines,omitempty"`
	Forever bool          `json:"forever,omitempty"`
	Length  time.Duration `json:"length,omitempty"`
	Code    int32         `json:"code,omitempty"`
	// StartError is containerd's message when the command could not even be started.
	StartError string `json:"startError,omitempty"`
}

// line is one line of output at a moment after the start.
type line struct {
	At     time.Duration `json:"at"`
	Stderr bool          `json:"stderr,omitempty"`
	Text   string        `json:"text"`
}

// simulate works out what a command line does. The shell language is understood in full; of programs only
// nvidia-smi, sleep and env. Any other program is taken for a server or a computation: it runs until stopped.
func simulate(argv, env []string, given grants, start time.Time) run {
	if len(argv) == 0 {
		return run{Forever: true} // the image's own command, which is not known here
	}
	if path.Base(argv[0]) == "nvidia-smi" && len(given.GPUs) == 0 {
		return run{Code: exitStartError, StartError: startError(argv[0])}
	}
	script, options, isShell := shellScript(argv)
	if !isShell {
		script = quoted(argv)
	}
	language := syntax.LangBash
	if isShell && path.Base(argv[0]) == "sh" {
		language = syntax.LangPOSIX
	}
	parsed, err := syntax.NewParser(syntax.Variant(language)).Parse(strings.NewReader(script), "")
	if err != nil {
		return run{Lines: []line{{Stderr: true, Text: fmt.Sprintf("%s: %v", argv[0], err)}}, Code: 2, Length: shortestRun}
	}
	machine := &machine{given: given, start: start}
	return machine.interpret(parsed, env, options)
}

func startError(command string) string {
	return "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create " +
		"failed: unable to start container process: error during container init: exec: " +
		strconv.Quote(command) + ": executable file not found in $PATH"
}

// shellScript returns the script and the options of a `sh -c SCRIPT ARG...` command line.
func shellScript(argv []string) (script string, options []string, ok bool) {
	if !slices.Contains([]string{"sh", "bash", "ash", "dash"}, path.Base(argv[0])) {
		return "", nil, false
	}
	for i := 1; i+1 < len(argv) && strings.HasPrefix(argv[i], "-"); i++ {
		for _, option := range []string{"e", "u"} {
			if strings.Contains(argv[i], option) {
				options = append(options, "-"+option)
			}
		}
		if strings.Contains(argv[i], "c") {
			// The first word after the script is $0.
			return argv[i+1], append(append(options, "--"), argv[min(i+3, len(argv)):]...), true
		}
	}
	return "", nil, false
}

// quoted turns an argument list into a script of one command.
func quoted(argv []string) string {
	words := make([]string, len(argv))
	for i, argument := range argv {
		word, err := syntax.Quote(argument, syntax.LangBash)
		if err != nil {
			word = "''" // only a NUL byte can't be quoted, and no argument can hold one
		}
		words[i] = word
	}
	return strings.Join(words, " ")
}

// errEndless ends the interpretation of a program that does not end by itself.
var errEndless = errors.New("runs until it is stopped")

// machine runs a script on a virtual clock, with no access to the real machine.
type machine struct {
	given grants
	start time.Time

	mu     sync.Mutex
	clock  time.Duration
	calls  int
	size   int
	lines  []line
	buffer [2]bytes.Buffer
}

func (m *machine) interpret(script *syntax.File, env, options []string) run {
	noFile := func(name string) error { return &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist} }
	runner, err := interp.New(
		interp.Env(expand.ListEnviron(env...)),
		interp.Dir("/"),
		interp.Params(options...),
		interp.StdIO(nil, &output{m, false}, &output{m, true}),
		interp.CallHandler(m.count),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return m.exec }),
		interp.OpenHandler(func(_ context.Context, name string, _ int, _ os.FileMode) (io.ReadWriteCloser, error) {
			if name == "/dev/null" {
				return devNull{}, nil
			}
			return nil, noFile(name)
		}),
		interp.ReadDirHandler2(func(_ context.Context, name string) ([]fs.DirEntry, error) { return nil, noFile(name) }),
		interp.StatHandler(func(_ context.Context, name string, _ bool) (fs.FileInfo, error) {
			if name == "/" {
				return os.Stat("/") // the working directory
			}
			return nil, noFile(name)
		}),
	)
	if err != nil {
		return run{Lines: []line{{Stderr: true, Text: err.Error()}}, Code: 2, Length: shortestRun}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err = runner.Run(ctx, script)
	m.flush()
	result := run{Lines: m.lines, Length: max(m.clock, shortestRun)}
	var status interp.ExitStatus
	switch {
	case err == nil:
	case errors.As(err, &status):
		result.Code = int32(status)
	default:
		result.Forever = true
	}
	return result
}

// count sees every command, so that a loop without end is noticed.
func (m *machine) count(_ context.Context, arguments []string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	if m.calls > maxCalls || m.size > maxOutput || m.clock > maxVirtualTime {
		return nil, errEndless
	}
	return arguments, nil
}

// exec stands for the programs that a container image holds.
func (m *machine) exec(ctx context.Context, arguments []string) error {
	handler := interp.HandlerCtx(ctx)
	switch path.Base(arguments[0]) {
	case "nvidia-smi":
		if len(m.given.GPUs) == 0 {
			fmt.Fprintf(handler.Stderr, "sh: 1: %s: not found\n", arguments[0])
			return interp.ExitStatus(exitNotFound)
		}
		m.pass(smiTime)
		code := nvidiaSMI(handler.Stdout, handler.Stderr, m.given, arguments[1:], m.start.Add(m.now()))
		if code != 0 {
			return interp.ExitStatus(code)
		}
		return nil
	case "sleep":
		return m.sleep(handler.Stderr, arguments[1:])
	case "env":
		if len(arguments) > 1 {
			return errEndless
		}
		writeEnv(handler.Stdout, handler.Env)
		return nil
	}
	return errEndless
}

func writeEnv(out io.Writer, env expand.Environ) {
	for name, variable := range env.Each {
		if variable.Exported && variable.IsSet() {
			fmt.Fprintf(out, "%s=%s\n", name, variable.String())
		}
	}
}

func (m *machine) sleep(errors io.Writer, arguments []string) error {
	total := time.Duration(0)
	for _, argument := range arguments {
		if argument == "infinity" || argument == "inf" {
			return errEndless
		}
		length, err := sleepLength(argument)
		if err != nil {
			fmt.Fprintf(errors, "sleep: invalid time interval '%s'\n", argument)
			return interp.ExitStatus(1)
		}
		total += length
	}
	if len(arguments) == 0 {
		fmt.Fprintln(errors, "sleep: missing operand")
		return interp.ExitStatus(1)
	}
	if total > maxVirtualTime {
		return errEndless
	}
	m.pass(total)
	return nil
}

func sleepLength(text string) (time.Duration, error) {
	unit := time.Second
	for suffix, size := range map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour} {
		if number, found := strings.CutSuffix(text, suffix); found {
			text, unit = number, size
			break
		}
	}
	number, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return 0, err
	case number < 0:
		return 0, fmt.Errorf("%q is negative", text)
	case number > float64(maxVirtualTime)/float64(unit):
		return maxVirtualTime + 1, nil
	}
	return time.Duration(number * float64(unit)), nil
}

func (m *machine) pass(length time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clock += length
}

func (m *machine) now() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.clock
}

// output is one of the two streams of a container; it stamps complete lines with the virtual clock.
type output struct {
	machine *machine
	stderr  bool
}

func (o *output) Write(data []byte) (int, error) {
	m := o.machine
	m.mu.Lock()
	defer m.mu.Unlock()
	m.size += len(data)
	buffer := &m.buffer[0]
	if o.stderr {
		buffer = &m.buffer[1]
	}
	buffer.Write(data)
	for {
		text, rest, found := bytes.Cut(buffer.Bytes(), []byte("\n"))
		if !found {
			return len(data), nil
		}
		m.lines = append(m.lines, line{At: m.clock, Stderr: o.stderr, Text: string(text)})
		remaining := bytes.Clone(rest)
		buffer.Reset()
		buffer.Write(remaining)
	}
}

// flush adds what was written without a final line break.
func (m *machine) flush() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.buffer {
		if m.buffer[i].Len() > 0 {
			m.lines = append(m.lines, line{At: m.clock, Stderr: i == 1, Text: m.buffer[i].String()})
		}
	}
}

// devNull is the one file that a simulated container has.
type devNull struct{}

func (devNull) Read([]byte) (int, error)       { return 0, io.EOF }
func (devNull) Write(data []byte) (int, error) { return len(data), nil }
func (devNull) Close() error                   { return nil }
