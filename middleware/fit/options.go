package fit

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// What stands where something was left out, unless the options say otherwise.
const (
	DefaultPlaceholder = "[cleared: it no longer fits the context window]"
	DefaultNote        = "[A remark of the program, not of the user: earlier messages were left out here, " +
		"since they no longer fit the context window.]"
)

// DefaultTarget is the share of the room that a shortened request fills.
const DefaultTarget = 0.9

// Options say what a request must satisfy. The zero value is right for a model
// that the table of models knows.
type Options struct {
	// Rules are those of the providers that the request is valid for. 0: those
	// of the model's provider by Env.Models, and message.Portable where that is
	// not known.
	Rules message.Rules

	// Limits are what the provider accepts besides tokens: bytes, images. A field
	// of zero: the provider's, by Rules and the window; negative: no limit.
	Limits message.Limits

	// Target is the share of the room that is filled once something had to go,
	// so that the next calls find room and leave the beginning as it is, on which
	// prompt caches live. It is more than 0 and at most 1, which means that
	// no more goes than must. For its sake, no kind of edit is begun that would
	// not be needed without it. 0: DefaultTarget.
	Target float64

	// Placeholder is the text of a cleared result. "": DefaultPlaceholder.
	Placeholder string

	// Note is the text of the message that stands for all messages that were
	// left out. It should say that it is no wish of the user. "": DefaultNote.
	Note string

	// NoRetry returns an error by which the provider says that the request is
	// too long, as it is, instead of shortening the request and asking again. What
	// the error says of the window is learned all the same.
	NoRetry bool
}

// Validate reports options that make no sense.
func (o Options) Validate() error {
	var errs []error
	if o.Target < 0 || o.Target > 1 || math.IsNaN(o.Target) {
		errs = append(errs, fmt.Errorf("want a Target of more than 0 and at most 1, as a share of the room, or 0 for %v, got %v",
			DefaultTarget, o.Target))
	}
	if unknown := o.Rules &^ (message.Portable | message.Prefill); unknown != 0 {
		errs = append(errs, fmt.Errorf("want Rules like message.OpenAI | message.Bedrock, got bits %#b that stand for nothing",
			uint(unknown)))
	}
	for _, t := range []struct{ name, text string }{{"Placeholder", o.Placeholder}, {"Note", o.Note}} {
		if t.text != "" && strings.TrimSpace(t.text) == "" {
			errs = append(errs, fmt.Errorf("%s is blank, which providers reject, want a text that can be seen", t.name))
		}
	}
	return errors.Join(errs...)
}

// limits returns the limits of a provider with those of the options on top.
func (o Options) limits(l message.Limits) message.Limits {
	for _, f := range [...]struct{ to, from *int }{
		{&l.Bytes, &o.Limits.Bytes},
		{&l.Images, &o.Limits.Images},
		{&l.Media, &o.Limits.Media},
		{&l.Documents, &o.Limits.Documents},
		{&l.AllDocumentBytes, &o.Limits.AllDocumentBytes},
		{&l.ImageBytes, &o.Limits.ImageBytes},
		{&l.ImageSide, &o.Limits.ImageSide},
		{&l.ManyImages, &o.Limits.ManyImages},
		{&l.ManySide, &o.Limits.ManySide},
		{&l.DocumentBytes, &o.Limits.DocumentBytes},
	} {
		if *f.from != 0 {
			*f.to = *f.from
		}
	}
	return l
}

// words are the texts that stand where something was left out.
type words struct {
	placeholder string
	note        message.Message
}

func (o Options) words() *words {
	return &words{
		placeholder: cmp.Or(o.Placeholder, DefaultPlaceholder),
		note:        message.User(cmp.Or(o.Note, DefaultNote)),
	}
}
