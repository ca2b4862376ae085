// Command aksgpu-nodes plays the nodes of one simulated AKS cluster: the kubelets, the GPU drivers and the device
// plugin of every node in a plan file, against a real API server. It holds no state that it could not
// take up again, so it may be killed at any moment.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// memoryLimit keeps the heap of hundreds of nodes small; the collector works harder near it.
const memoryLimit = 256 << 20

type options struct {
	kubeconfig, plan, listen, tlsCert, tlsKey, clientCA string
}

func main() {
	log.SetFlags(log.LstdFlags | log.Lmsgprefix)
	chosen, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "aksgpu-nodes:", err)
		os.Exit(2)
	}
	debug.SetMemoryLimit(memoryLimit)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, chosen); err != nil {
		fmt.Fprintln(os.Stderr, "aksgpu-nodes:", err)
		os.Exit(1)
	}
}

func parse(arguments []string) (options, error) {
	chosen := options{}
	flags := flag.NewFlagSet("aksgpu-nodes", flag.ContinueOnError)
	flags.StringVar(&chosen.kubeconfig, "kubeconfig", "", "kubeconfig `file` of an administrator")
	flags.StringVar(&chosen.plan, "plan", "", "the node plan, a JSON `file` that is replaced by rename; "+
		"container output is kept in the folder kubelet beside it")
	flags.StringVar(&chosen.listen, "listen", "", "`address` of the kubelets' HTTPS server, 127.0.0.1:PORT")
	flags.StringVar(&chosen.tlsCert, "tls-cert", "", "certificate `file` of the HTTPS server")
	flags.StringVar(&chosen.tlsKey, "tls-key", "", "key `file` of the HTTPS server")
	flags.StringVar(&chosen.clientCA, "client-ca", "", "`file` of the authority that signs the API server's client certificate")
	if err := flags.Parse(arguments); err != nil {
		return chosen, err
	}
	if flags.NArg() > 0 {
		return chosen, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	var missing error
	flags.VisitAll(func(f *flag.Flag) {
		if f.Value.String() == "" && missing == nil {
			missing = fmt.Errorf("the flag --%s is missing", f.Name)
		}
	})
	return chosen, missing
}
