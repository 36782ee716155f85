package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/internal/compress"
	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/internal/gateway"
	"github.com/laconic-go/laconic/middleware"
	live "github.com/laconic-go/laconic/report"
)

var serveCommand = command{
	name:  "serve",
	args:  "--upstream URL [FLAGS]",
	short: "a gateway: a chain between clients of any language and the API",
	long: `Listens for requests of OpenAI chat completions, OpenAI Responses, Anthropic
Messages, Gemini and Ollama, applies the chain, and sends them to the upstream.
Clients set their base URL to this server. All else passes untouched.
--routes names several upstreams in a file, a line NAME: URL for each, and
requests to /NAME/… go there; --upstream gets the others. Each credential is a
tenant of its own. Without --chain, the chain is preset auto, and what it
removes is kept in a folder of the user, or in memory if it listens to other
machines. SIGHUP reads the chain file and certificate again; SIGTERM and SIGINT
make /readyz say no, and end the server after the last request. The log goes to
standard error and has no content. See docs/gateway.md.`,
	flags: func(fs *flag.FlagSet) action {
		var s serving
		o := &s.opts
		fs.StringVar(&o.Chain, "chain", "", "the chain `FILE`, in YAML or JSON; none: preset auto")
		fs.StringVar(&s.archive, "archive", "", "`FOLDER` of what is removed, without --chain; off: memory")
		fs.StringVar(&s.upstream, "upstream", "", "`URL` of the API, as https://api.openai.com")
		fs.StringVar(&s.routes, "routes", "", "`FILE` with a line NAME: URL for each of several upstreams")
		fs.StringVar(&s.listen, "listen", "127.0.0.1:8787", "`ADDRESS` to listen on")
		fs.StringVar(&s.secret, "secret", "", "`FILE` with the key of the scopes' names")
		fs.StringVar(&o.ScopeHeader, "scope-header", "", "header `NAME` of the scope, not the credential")
		fs.StringVar(&o.ConversationHeader, "conversation-header", "", "header `NAME` of the conversation")
		fs.BoolVar(&o.RemoveClientLines, "remove-client-lines", false, "remove Claude Code's billing line, except for Anthropic")
		fs.BoolVar(&o.Audit, "audit", false, "send requests as they came; log what would be done")
		fs.Func("fail", "if the chain fails: `open` sends it with the edits so far", func(how string) error {
			o.FailClosed = how == "closed"
			if how != "open" && how != "closed" {
				return errors.New("want open or closed")
			}
			return nil
		})
		fs.Int64Var(&o.MaxBody, "max-body", 32<<20, "`BYTES`; a longer body passes untouched")
		fs.IntVar(&o.MaxActive, "max-active", 4096, "`NUMBER` of requests at once; else 503")
		fs.DurationVar(&o.DrainDelay, "drain-delay", 3*time.Second, "`TIME` from /readyz saying no to the end")
		fs.DurationVar(&o.Drain, "drain", 5*time.Minute, "`TIME` that requests have to end")
		fs.StringVar(&o.TLSCert, "tls-cert", "", "`FILE` of the certificate")
		fs.StringVar(&o.TLSKey, "tls-key", "", "`FILE` of its key")
		fs.StringVar(&s.log, "log", "json", "`FORMAT` of the log: json, text or off")
		fs.StringVar(&s.report, "report", "", "`MODE` of a page of live calls: view, or force, which edits")
		fs.BoolVar(&s.probe, "probe", false, "ask the gateway at --listen if it is ready, and end")
		fs.BoolVar(&s.check, "check", false, "check chain, stores and upstreams, and end")
		fs.BoolVar(&s.demo, "demo", false, "start a made-up provider behind it")
		return s.run
	},
}

// serving is the command with its flags.
type serving struct {
	opts                                  gateway.Options
	upstream, routes, listen, secret, log string
	archive, report                       string
	check, demo, probe                    bool
}

func (s *serving) run(ctx context.Context, args []string, std stdio) (err error) {
	if s.probe {
		return ready(ctx, s.listen)
	}
	if err := s.validate(args); err != nil {
		return err
	}
	if s.demo {
		end, err := s.stage() //nolint:contextcheck // the provider ends with the command
		if err != nil {
			return err
		}
		defer end()
	}
	if err := s.read(std.err); err != nil {
		return err
	}
	s.opts.Register = lists
	if s.report != "" && !s.check {
		shown, failed := live.Listen(ctx, live.Options{Force: s.report == "force"})
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, shown.Close()) }() //nolint:contextcheck // it ends with the command
		s.opts.Watch = shown.Watch
		fmt.Fprintln(std.out, "the calls are shown at", shown.URL())
	}
	g, err := gateway.New(ctx, s.opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	if s.check {
		return writeChecks(g.Check(ctx), std.out)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", s.listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(std.out, "laconic serves at %s\n", l.Addr())
	if s.opts.Chain+s.opts.Text == "" {
		fmt.Fprintln(std.out, "what is removed is kept in", cmp.Or(s.opts.Archive, "memory"))
	}
	if s.demo {
		fmt.Fprintf(std.out, demoText, l.Addr())
	}
	log.SetOutput(io.Discard) // net/http writes parts of unexpected answers there
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal ends the process
	defer s.reload(ctx, g)()
	return g.Serve(ctx, l)
}

// reload reads the files again at each SIGHUP, until ctx or the function that it returns ends it.
func (s *serving) reload(ctx context.Context, g *gateway.Gateway) (end func()) {
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-reload:
				if err := g.Reload(ctx); err != nil {
					s.opts.Log.ErrorContext(ctx, "reload", "error", oneLine(err.Error()))
				}
			}
		}
	}()
	return func() { signal.Stop(reload) }
}

// ready asks a gateway on this machine whether it takes requests: for images that have no other program.
func ready(ctx context.Context, listen string) error {
	_, port, err := net.SplitHostPort(listen)
	if err != nil {
		return usagef("--listen is %q, want HOST:PORT", listen)
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:"+port+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the gateway at port %s is not ready: %s", port, resp.Status)
	}
	return nil
}

// validate checks the command line.
func (s *serving) validate(args []string) error {
	switch {
	case len(args) > 0:
		return usagef("%q is too much: serve has flags alone", args[0])
	case s.demo && (s.upstream != "" || s.routes != ""):
		return usagef("--demo has an upstream of its own: want no --upstream and no --routes")
	case !slices.Contains([]string{"", "view", "force"}, s.report):
		return usagef("--report is %q, want view or force", s.report)
	case s.upstream == "" && s.routes == "" && !s.demo:
		return usagef("no upstream: want --upstream URL or --routes FILE; see laconic help serve")
	case (s.opts.TLSCert == "") != (s.opts.TLSKey == ""):
		return usagef("want both --tls-cert and --tls-key, or none")
	case s.opts.MaxBody < 1 || s.opts.MaxActive < 1 || s.opts.Drain <= 0 || s.opts.DrainDelay < 0:
		return usagef("want --max-body, --max-active and --drain above 0, and --drain-delay not below")
	}
	return nil
}

// read reads the files that the flags name.
func (s *serving) read(stderr io.Writer) error {
	if s.routes != "" {
		text, err := os.ReadFile(s.routes)
		if err != nil {
			return err
		}
		s.opts.Routes, err = gateway.ParseRoutes(string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", s.routes, err)
		}
	}
	if s.upstream != "" {
		r, err := gateway.NewRoute("", s.upstream)
		if err != nil {
			return err
		}
		s.opts.Routes = append(s.opts.Routes, r)
	}
	if err := s.keep(); err != nil {
		return err
	}
	if s.secret != "" {
		var err error
		s.opts.Secret, err = readSecret(s.secret)
		if err != nil {
			return err
		}
	}
	switch s.log {
	case "json":
		s.opts.Log = slog.New(slog.NewJSONHandler(stderr, nil))
	case "text":
		s.opts.Log = slog.New(slog.NewTextHandler(stderr, nil))
	case "off":
		s.opts.Log = slog.New(slog.DiscardHandler)
	default:
		return usagef("--log is %q, want json, text or off", s.log)
	}
	return nil
}

// keep chooses the archive of a gateway without a chain file: for one person, who reaches it by the loopback, a folder below that of the
// user's state; for a team memory.
func (s *serving) keep() error {
	host, _, _ := net.SplitHostPort(s.listen)
	one := host == "localhost" || net.ParseIP(host).IsLoopback()
	switch {
	case s.opts.Chain+s.opts.Text != "" && s.archive != "":
		return usagef("--archive is for the chain without a file: want the key archive in %s", cmp.Or(s.opts.Chain, "a file"))
	case s.opts.Chain+s.opts.Text != "" || s.archive == "off" || s.archive == "" && !one:
		return nil
	}
	folder, err := stateFolder()
	secret := s.secret
	if err == nil && secret == "" {
		secret, err = ownSecret(folder)
	}
	if err != nil && s.archive == "" { // a user without a home
		return nil
	}
	s.secret, s.opts.Archive = secret, cmp.Or(s.archive, filepath.Join(folder, "archive"))
	return err
}

// stateFolder returns the folder in which programs of the user keep what a restart should not lose, by the XDG Base Directory
// Specification.
func stateFolder() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "laconic"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("%w: want --archive off, or a home", err)
	}
	return filepath.Join(home, ".local", "state", "laconic"), nil
}

// ownSecret returns the file of the secret in a folder, and makes one if there is none.
func ownSecret(folder string) (string, error) {
	path := filepath.Join(folder, "secret")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // one of several gateways makes it
	if errors.Is(err, os.ErrExist) {
		return path, nil
	}
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(rand.Text() + "\n")
	return path, errors.Join(err, f.Close())
}

// readSecret reads the key of the scopes' names.
func readSecret(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err == nil && len(text) < 16 {
		err = fmt.Errorf("%s has %d bytes, want at least 16: openssl rand -hex 32", path, len(text))
	}
	return text, err
}

// writeChecks writes what was checked.
func writeChecks(all []gateway.Check, out io.Writer) error {
	failed := 0
	for _, c := range all {
		if c.Err == nil {
			fmt.Fprintln(out, "ok:", c.What)
			continue
		}
		failed++
		fmt.Fprintf(out, "failed: %s: %s\n", c.What, oneLine(c.Err.Error()))
	}
	if failed > 0 {
		return fmt.Errorf("%s of %d failed", several(failed, "check"), len(all))
	}
	return nil
}

// stage starts the provider of the demonstration, and takes a chain for it if none is given.
func (s *serving) stage() (end func(), err error) {
	p, err := fakeprovider.Start(fakeprovider.Text("The linker needs 4 GB."), fakeprovider.Options{
		Models: map[string]int{"gpt-4o": 128_000, "claude-sonnet-5-5": 200_000},
	})
	if err != nil {
		return nil, err
	}
	s.upstream = p.Root
	if s.opts.Chain == "" {
		s.opts.Text = demoChain
	}
	return func() { _ = p.Close() }, nil
}

const demoChain = "chain: [{use: contextedit, trigger: {rounds: 1}, keep: 1}, {use: fit}]\n"

// demoText has two command lines: a result is cleared in the first, the second one is a stream.
//
//nolint:lll // commands to be copied
const demoText = `
The provider behind it is made up, so no key is needed. In another terminal:

1. An agent with two results of a tool. The chain clears the older one before the provider reads it: compare
   X-Laconic-Tokens-Before and X-Laconic-Tokens-After in the headers of the answer.

curl -si -w '\n' http://%[1]s/v1/chat/completions -H 'content-type: application/json' -d '{"model":"gpt-4o","messages":[{"role":"user","content":"Why does the build fail?"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"step 1: ok; step 2: ok; step 3: ok; step 4: ok; step 5: ok; step 6: ok; step 7: ok; step 8: ok; step 9: ok"},{"role":"assistant","content":null,"tool_calls":[{"id":"b","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"b","content":"the linker ran out of memory"}],"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object","properties":{}}}}]}'

2. A stream in another API. It arrives event by event.

curl -sN http://%[1]s/v1/messages -H 'content-type: application/json' -d '{"model":"claude-sonnet-5-5","max_tokens":50,"stream":true,"messages":[{"role":"user","content":"How much does it need?"}]}'

The lines below are the log, one for each request, without content. http://%[1]s/metrics has the sums.

`

// lists serves /v1/compress and /v1/retrieve with the chain and the archives of the gateway, those of the newest chain file.
func lists(mux *http.ServeMux, g *gateway.Gateway) {
	var mu sync.Mutex
	var file *chainfile.File
	var newest http.Handler
	handle := func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if f := g.File(); f != file {
			file, newest = f, compress.New(compress.Options{Scope: g.Scope, Open: func(scope string) compress.Tenant {
				in, archive := f.In(scope), g.Archive(scope)
				return compress.Tenant{Chain: in.With(middleware.Env{Archive: archive}), Archive: archive}
			}})
		}
		h := newest
		mu.Unlock()
		h.ServeHTTP(w, r)
	}
	for _, path := range []string{"POST /v1/compress", "POST /v1/retrieve", "GET /v1/retrieve/{hash}"} {
		mux.HandleFunc(path, handle)
	}
}
