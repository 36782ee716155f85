package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/internal/gateway"
	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
)

var mcpCommand = command{
	name:  "mcp",
	args:  "[--chain FILE] [--scope NAME | --credential FILE]",
	short: "serve the archive of a chain by the Model Context Protocol",
	long: `Serves the archive that a chain file names to one client of the Model Context
Protocol, over standard input and output, until the input ends. There is one
tool, recall: it reads what the chain has cleared, by the handle in the
placeholder. The archive must be a folder or a database, since one in memory
is that of another process. A client sees one scope alone: that of --scope, or
else that of the chain file. With --secret and --credential it is the scope that
the gateway has for requests with this header. Without --chain it is the archive
of laconic serve without one, and --credential is enough.`,
	flags: func(fs *flag.FlagSet) action {
		var m served
		fs.StringVar(&m.chain, "chain", "", "the chain `FILE`, in YAML or JSON")
		fs.Func("scope", "scope `NAME`, in place of that of the chain file", func(name string) error {
			m.scope = &name
			return nil
		})
		fs.StringVar(&m.secret, "secret", "", "`FILE` that the gateway has as its --secret")
		fs.StringVar(&m.credential, "credential", "", "`FILE` with a header, as x-api-key: KEY")
		return m.run
	},
}

// served is the command with its flags.
type served struct {
	chain, secret, credential string

	scope *string // nil: that of the chain file
}

func (m *served) run(ctx context.Context, args []string, std stdio) (err error) {
	switch {
	case m.chain == "" && m.credential == "":
		return usagef("no chain: want --chain FILE, or --credential FILE for the archive of laconic serve without one; " +
			"see laconic help mcp")
	case len(args) > 0:
		return usagef("%s, want none; see laconic help mcp", several(len(args), "argument"))
	case m.chain != "" && (m.secret == "") != (m.credential == "") || m.secret != "" && m.scope != nil:
		return usagef("want --scope, or --secret and --credential, or none; see laconic help mcp")
	}
	file, err := m.load()
	if err != nil {
		return err
	}
	end, err := file.Open(ctx, engine.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	if m.secret != "" {
		scope, err := m.scopeOf(file.Scope)
		if err != nil {
			return err
		}
		m.scope = &scope
	}
	if m.scope != nil {
		file = file.In(*m.scope)
	}
	if file.Archive == nil || store.Internals(inside.Key{}).InMemory(file.Archive) {
		return fmt.Errorf("%s: the key archive names no folder and no database, so nothing can be read", m.chain)
	}
	out := &output{to: std.out}
	in := &requests{from: bufio.NewReader(std.in), refuse: out}
	return newServer(file.Archive).Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: out})
}

// load reads the chain file, or takes what laconic serve has without one.
func (m *served) load() (*chainfile.File, error) {
	if m.chain != "" {
		return chainfile.Load(m.chain)
	}
	folder, err := stateFolder()
	if err == nil && m.secret == "" {
		m.secret, err = ownSecret(folder)
	}
	if err != nil {
		return nil, err
	}
	return gateway.Preset(filepath.Join(folder, "archive"))
}

// scopeOf returns the scope of the credential, in a gateway with a chain file of this scope.
func (m *served) scopeOf(file string) (string, error) {
	secret, err := readSecret(m.secret)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(m.credential)
	if err != nil {
		return "", err
	}
	name, value, _ := strings.Cut(strings.TrimSpace(string(text)), ":")
	scope := gateway.ScopeOf(secret, file, http.Header{http.CanonicalHeaderKey(name): {strings.TrimSpace(value)}})
	if strings.Contains(value, "\n") || scope == gateway.ScopeOf(secret, file, nil) {
		return "", fmt.Errorf("%s is no header with a credential, want one line, as x-api-key: KEY", m.credential)
	}
	return scope, nil
}

// output is a writer of lines for several goroutines, with nothing to close.
type output struct {
	mu sync.Mutex
	to io.Writer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.to.Write(p)
}

func (o *output) Close() error { return nil }

// requests reads lines, and refuses those that are no message of the protocol: the server would end after one.
type requests struct {
	from   *bufio.Reader
	refuse io.Writer
	line   []byte // what is left of one
}

func (r *requests) Read(p []byte) (int, error) {
	for len(r.line) == 0 {
		line, err := r.from.ReadBytes('\n')
		if err != nil {
			return 0, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if _, err := jsonrpc.DecodeMessage(line); err == nil {
			r.line = line
			break
		}
		code, text := jsonrpc.CodeInvalidRequest, "not a message of the protocol"
		if !json.Valid(line) {
			code, text = jsonrpc.CodeParseError, "not JSON"
		}
		if _, err := fmt.Fprintf(r.refuse, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`+"\n", code, text); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.line)
	r.line = r.line[n:]
	return n, nil
}

// newServer returns a server with the tool that reads an archive.
func newServer(archive store.Store) *mcp.Server {
	tool := agent.Recall(archive, agent.RecallOptions{Media: true})
	def := tool.Definition()
	s := mcp.NewServer(&mcp.Implementation{Name: "laconic", Version: built()}, &mcp.ServerOptions{
		Instructions: "A placeholder such as [cleared: recall HANDLE], with twelve letters in place of HANDLE, stands for content " +
			"that was cleared from the conversation. The tool recall reads it again.",
		Capabilities: &mcp.ServerCapabilities{},
	})
	s.AddTool(&mcp.Tool{
		Name: def.Name, Description: def.Description, InputSchema: json.RawMessage(def.Parameters),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true},
	}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		parts, err := tool.Call(ctx, string(req.Params.Arguments))
		if err != nil { // the model reads it, and can call again
			told := &mcp.TextContent{Text: err.Error()}
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{told}}, nil //nolint:nilerr // as the protocol has it
		}
		out := &mcp.CallToolResult{}
		for _, p := range parts {
			out.Content = append(out.Content, contentOf(p))
		}
		return out, nil
	})
	return s
}

// contentOf returns a part of an answer as the protocol has it.
func contentOf(p message.Part) mcp.Content {
	switch p := p.(type) {
	case message.Text:
		return &mcp.TextContent{Text: p.Text}
	case message.Media:
		if strings.HasPrefix(p.Type, "image/") {
			return &mcp.ImageContent{Data: []byte(p.Data), MIMEType: p.Type}
		}
		return &mcp.TextContent{Text: fmt.Sprintf("[%s, %d bytes]", p.Type, len(p.Data))}
	case message.Thinking, message.ToolCall, message.ToolResult, message.Opaque:
	}
	return &mcp.TextContent{Text: fmt.Sprintf("[%T]", p)}
}
