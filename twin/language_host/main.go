// A thin language host: runs Pulumi programs, policy packs and component providers written in Python, for
// machines that have no Pulumi installed. The official one can't be had as a Go module.
//
// The engine starts it with its own address as the argument and reads the port from its first line.
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
)

// version is set by the linker.
var version = "0.0.0"

// maxMessage is the engine's own limit, in bytes.
const maxMessage = 400 << 20

func main() {
	engine := parseArguments()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	children := &children{}
	go endWith(children)
	server := grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage))
	pulumirpc.RegisterLanguageRuntimeServer(server, &host{engine: engine, children: children})
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	if err := server.Serve(listener); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// parseArguments returns the engine's address. The engine may put logging flags before it, which say
// nothing to a host that logs nothing. Programs built on an older engine, such as the YAML language, repeat
// the options of the runtime as flags; they come with every request too, and that is where they are read.
func parseArguments() string {
	flag.Bool("logtostderr", false, "ignored")
	flag.Bool("logflow", false, "ignored")
	flag.Int("v", 0, "ignored")
	flag.String("tracing", "", "ignored")
	for _, option := range []string{"virtualenv", "toolchain", "typechecker", "root"} {
		flag.String(option, "", "ignored")
	}
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "The Pulumi engine starts this program; it has no use by hand.")
		os.Exit(2)
	}
	return flag.Arg(0)
}

// endWith ends this process and all it started, at once and silently, when it is told to or when the
// engine is gone. The engine waits for a host that lingers, and shows what it prints as diagnostics.
func endWith(children *children) {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	engine := os.Getppid()
	for {
		select {
		case <-told:
			children.killAll()
			os.Exit(0)
		case <-time.After(500 * time.Millisecond):
			if os.Getppid() != engine {
				children.killAll()
				os.Exit(0)
			}
		}
	}
}
