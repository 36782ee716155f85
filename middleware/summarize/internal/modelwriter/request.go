package modelwriter

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/tokens"
)

// Brief says of what a summary is wanted, by whom, and how. All that it refers to
// is read only.
type Brief struct {
	Folded  []message.Message   // what the summary replaces: whole units, in order, without the message of the earlier summary
	Earlier string              // the summary that is brought up to date, and replaced as well; "": none
	Live    *middleware.Request // what Main is sent in the live conversation, Folded and Earlier in it; nil: no suffix mode
	Focus   string              // what the user asks now; "": nothing

	// Writer is given a record, Main, the model of the live conversation, is asked in
	// suffix mode. Of both, the one that costs less is asked, and Writer where that
	// comes to nothing. Without a model of Writer, Main is given the record then;
	// without one of Main, there is no suffix mode.
	Writer, Main Author

	Prefer Mode // of both, where a price is unknown; Suffix only if not Cold
	Cold   bool // no prompt cache holds Live any more

	Form     Form
	Language Language
	Markers  []string // texts that the caller puts before a summary, which none may contain
	Apart    bool     // of Facts: one request for each concept

	MaxTokens int           // of the summary, by Meter, and never more than a fifth of the window; 0: 800
	Requests  int           // requests at most, in all; 0: 64
	Parallel  int           // requests at the same time, at most; 0: 4
	Timeout   time.Duration // for one request, after which it counts as failed; 0: 5 minutes, negative: none

	Meter  tokens.Meter  // counts what is sent and what comes back
	Report func(Attempt) // hears of each attempt as it ends, one at a time; nil: nobody
}

// Author is a model that can write, and how it is asked.
type Author struct {
	Model  middleware.Model // nil: there is none
	Name   string           // what the requests call it: [middleware.Request].Model
	Window int              // its context size in tokens; 0: that of Known
	Known  models.Model     // window, prices, cache; zero: unknown, and then requests are cut down only once one is refused as too long

	Task     string   // what is to be written, in place of the built-in wording; "": that. Not of Facts
	Sections []string // headings that the summary must have; nil: the built-in ones, if Task is ""; empty: none. Not of Facts

	// Retries are the attempts that may come to nothing before the last one, for each
	// part of the record. 0: 2, negative: none. Of two authors, those of Writer count.
	Retries int

	// Params returns the provider's call options for an answer of at most so many
	// tokens; nil: no options. PassOptions passes those of Live on instead.
	Params      func(limit int) any
	PassOptions bool
}

// Mode says how a model is asked.
type Mode int

// The modes.
const (
	Fresh  Mode = iota // with a record of the messages as data
	Suffix             // in the live conversation, by one more message; if that is not possible, or fails, as Fresh
)

// String returns the mode in lower case.
func (m Mode) String() string {
	return [...]string{"fresh", "suffix"}[min(max(m, Fresh), Suffix)]
}

// Form is the form of the answer.
type Form int

// The forms.
const (
	Prose      Form = iota // text under headings
	Structured             // JSON: topics, entities, decisions and actions, which become text under headings
)

// Language is the language of the built-in wording.
type Language int

// The languages.
const (
	English Language = iota
	Chinese
)

const (
	defaultTokens   = 800
	defaultRetries  = 2
	defaultRequests = 64
	defaultParallel = 4
	defaultTimeout  = 5 * time.Minute
)

// Validate reports what is wrong with a brief. It does not look at the messages
// but for their parts.
func (b Brief) Validate() error {
	for _, v := range []struct {
		wrong bool
		what  string
	}{
		{len(b.Folded) == 0 && b.Earlier == "", "Folded is empty, want messages"},
		{b.Writer.Model == nil && b.Main.Model == nil, "neither Writer nor Main has a model"},
		{b.Prefer < Fresh || b.Prefer > Suffix, fmt.Sprintf("Prefer is %d, want Fresh or Suffix", int(b.Prefer))},
		{b.Form < Prose || b.Form > Structured, fmt.Sprintf("Form is %d, want Prose or Structured", int(b.Form))},
		{b.Language < English || b.Language > Chinese, fmt.Sprintf("Language is %d, want English or Chinese", int(b.Language))},
		{b.MaxTokens < 0, fmt.Sprintf("MaxTokens is %d, want 0 or more", b.MaxTokens)},
		{b.Requests < 0, fmt.Sprintf("Requests is %d, want 0 or more", b.Requests)},
		{b.Parallel < 0, fmt.Sprintf("Parallel is %d, want 0 or more", b.Parallel)},
		{b.Writer.Window < 0 || b.Main.Window < 0, "Window is negative, want 0 or more tokens"},
		{b.Form == Structured && len(b.Writer.Sections)+len(b.Main.Sections) > 0, "Sections are those of Prose, and Form is Structured"},
		{b.Writer.blankHeading() || b.Main.blankHeading(), "Sections has a heading without a letter"},
		{slices.Contains(b.Markers, ""), "Markers has an empty text"},
	} {
		if v.wrong {
			return invalid(errors.New(v.what))
		}
	}
	for i, m := range b.Folded {
		for k, p := range m.Parts {
			if !message.KnownPart(p) {
				return invalid(fmt.Errorf("Folded[%d].Parts[%d] is a %T, want one of the six types of parts", i, k, p))
			}
		}
	}
	return nil
}

func invalid(err error) error {
	return &middleware.Error{Kind: middleware.Invalid, Op: "scribe", Err: err}
}

// withDefaults returns the brief with its zero options filled in.
func (b Brief) withDefaults() Brief {
	b.MaxTokens = cmp.Or(b.MaxTokens, defaultTokens)
	b.Requests = cmp.Or(b.Requests, defaultRequests)
	b.Parallel = cmp.Or(b.Parallel, defaultParallel)
	b.Timeout = cmp.Or(b.Timeout, defaultTimeout)
	if b.Writer.Model == nil {
		b.Writer = b.Main
	}
	for _, a := range []*Author{&b.Writer, &b.Main} {
		a.Retries = max(0, cmp.Or(a.Retries, defaultRetries))
		if a.Sections == nil && a.Task == "" && b.Form == Prose {
			a.Sections = b.Language.words().sections
		}
	}
	return b
}

func (b Brief) canSuffix() bool { return b.Live != nil && b.Main.Model != nil }

// ofRecord returns the brief of which all is asked with a record.
func (b Brief) ofRecord() Brief {
	if b.Writer.Model == nil {
		b.Writer = b.Main
	}
	b.Main = Author{}
	return b
}

func (a Author) blankHeading() bool {
	return slices.ContainsFunc(a.Sections, func(s string) bool { return heading(s) == "" })
}

func (a Author) window() int { return cmp.Or(a.Window, a.Known.Window) }
