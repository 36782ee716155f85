package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/cloudwego/eino-ext/components/model/ollama"
	"github.com/cloudwego/eino-ext/components/model/openai"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/middleware"
)

// noModel is what -model names by default.
const noModel = "stand-in"

// byRules is what -summarizer names by default.
const byRules = "rules"

// openModel returns the model that -model names.
func (o *options) openModel(ctx context.Context) (middleware.Model, error) {
	if o.model == noModel {
		return standin(o.window), nil
	}
	return open(ctx, "-model", o.model, noModel, o.window)
}

// openSummarizer returns the model that -summarizer names; nil: rules write.
func (o *options) openSummarizer(ctx context.Context) (middleware.Model, error) {
	if o.summarizer == byRules {
		return nil, nil
	}
	return open(ctx, "-summarizer", o.summarizer, byRules, o.window)
}

// open returns the model that a flag names, in place of its default.
func open(ctx context.Context, flag, model, byDefault string, window int) (middleware.Model, error) {
	provider, name, _ := strings.Cut(model, ":")
	switch {
	case name != "" && provider == "openai":
		return openAI(ctx, flag, name)
	case name != "" && provider == "ollama":
		return local(ctx, name, window)
	}
	return nil, &usageError{text: fmt.Sprintf("no model %q: %s is openai:NAME, ollama:NAME or %s", model, flag, byDefault)}
}

// openAI asks OpenAI, or whoever speaks its language at OPENAI_BASE_URL.
func openAI(ctx context.Context, flag, name string) (middleware.Model, error) {
	key := os.Getenv("OPENAI_API_KEY")
	if key == "" {
		return nil, &usageError{text: flag + " openai:" + name + " needs a key: set OPENAI_API_KEY, " +
			"and OPENAI_BASE_URL for an endpoint other than OpenAI's"}
	}
	client, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{APIKey: key, BaseURL: os.Getenv("OPENAI_BASE_URL"), Model: name})
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	return eino.Model(client), nil
}

// local asks Ollama on this machine, or at OLLAMA_HOST. It is told the window:
// by itself it has a small one, and cuts what is longer without a word.
func local(ctx context.Context, name string, window int) (middleware.Model, error) {
	host := os.Getenv("OLLAMA_HOST")
	switch {
	case host == "":
		host = "http://127.0.0.1:11434"
	case !strings.Contains(host, "://"):
		host = "http://" + host
	}
	options := new(ollama.Options)
	options.NumCtx = window
	client, err := ollama.NewChatModel(ctx, &ollama.ChatModelConfig{BaseURL: host, Model: name, Options: options})
	if err != nil {
		return nil, fmt.Errorf("open %s at %s: %w", name, host, err)
	}
	return eino.Model(client), nil
}
