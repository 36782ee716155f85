package middleware_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

// server answers prompts up to its window, and refuses longer ones as it is told
// to.
type server struct {
	window int
	refuse func(sent int) error
}

func (s server) ask(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
	if sent := req.View().Size().Tokens; sent > s.window {
		return nil, &middleware.Error{Kind: middleware.Overflow, Op: "server", Err: s.refuse(sent)}
	}
	return &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"})}, nil
}

func TestWindowIsLearnt(t *testing.T) {
	t.Parallel()
	mute := func(int) error { return errors.New("too long") }
	tells := func(int) error { return errors.New("prompt is too long: 9000 tokens > 2000 maximum") }
	over := func(int) error { return errors.New("prompt too long; exceeded max context length by 1000 tokens") }
	absurd := func(int) error { return errors.New("prompt is too long: 5 tokens > 1 maximum") }
	cases := []struct {
		name   string
		server server
		budget *middleware.Budget
		guess  bool // no number: only the conversation is limited
		want   func(sent int) middleware.Budget
	}{
		{"as the provider says it", server{2000, tells}, &middleware.Budget{Window: 8000, Reserve: 800}, false, func(int) middleware.Budget {
			return middleware.Budget{Window: 2000, Reserve: 200}
		}},
		{"where none was declared", server{2000, tells}, nil, false, func(int) middleware.Budget { return middleware.Budget{Window: 2000} }},
		{"from what was sent", server{2000, mute}, nil, true, func(sent int) middleware.Budget { return middleware.Budget{Window: sent * 4 / 5} }},
		{"from what was sent, since the number cannot be right", server{2000, absurd}, &middleware.Budget{Window: 8000}, true, func(sent int) middleware.Budget {
			return middleware.Budget{Window: sent * 4 / 5}
		}},
		{"from what was sent, with a reserve", server{2000, mute}, &middleware.Budget{Window: 8000, Reserve: 4000}, true, func(sent int) middleware.Budget {
			return middleware.Budget{Window: int(0.8 * float64(sent) / 0.5), Reserve: int(0.8 * float64(sent) / 0.5 / 2)}
		}},
		{"from what was too many", server{2000, over}, nil, false, func(sent int) middleware.Budget { return middleware.Budget{Window: sent - 1000} }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var heard middlewaretest.Recorder
			var seen []middleware.Budget
			look := middleware.Editing("look", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
				b, _ := v.Budget()
				seen = append(seen, b)
				return nil, nil
			}, middleware.Options{})
			model := middleware.Chain(heard.Middleware(), look)(c.server.ask)
			long := []message.Message{message.User(strings.Repeat("word ", 3000))}
			_, err := model(t.Context(), &middleware.Request{Messages: long, Model: "m", Budget: c.budget}, nil)
			require.Equal(t, middleware.Overflow, middleware.KindOf(err))
			events := heard.Events()
			require.Len(t, events, 1)
			require.Equal(t, middleware.Notice, events[0].Kind, "%s", events[0])
			scope := map[bool]string{true: "for this conversation from now on", false: "for this model from now on"}
			require.Contains(t, events[0].Why, scope[c.guess])
			require.Equal(t, c.server.refuse(0).Error() == "too long", strings.Contains(events[0].Why, "does not say how many it accepts"))
			if c.guess {
				_, err = model(t.Context(), &middleware.Request{Messages: long, Model: "m", Budget: c.budget}, nil)
				require.Error(t, err)
				require.Equal(t, c.want(events[0].Before), seen[1], "the same conversation knows it")
				return
			}
			_, err = model(t.Context(), &middleware.Request{Messages: []message.Message{message.User("another")}, Model: "m", Budget: c.budget}, nil)
			require.NoError(t, err)
			require.Equal(t, c.want(events[0].Before), seen[1], "another conversation with the same model knows it")
			_, err = model(t.Context(), &middleware.Request{Messages: []message.Message{message.User("another")}, Model: "n", Budget: c.budget}, nil)
			require.NoError(t, err)
			if c.budget == nil {
				require.Zero(t, seen[2], "another model has its own")
			} else {
				require.Equal(t, *c.budget, seen[2], "another model has its own")
			}
		})
	}
}

// TestWindowIsForgotten shows that a longer prompt that was taken says more than
// an earlier refusal.
func TestWindowIsForgotten(t *testing.T) {
	t.Parallel()
	var last middleware.Budget
	look := middleware.Editing("look", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		last, _ = v.Budget()
		return nil, nil
	}, middleware.Options{})
	answers := []middleware.Model{
		middlewaretest.Fail(&middleware.Error{Kind: middleware.Overflow, Err: errors.New("too long")}),
		testkit.Give(middleware.Response{Message: message.Assistant(message.Text{Text: "ok"}), Usage: message.Usage{Input: 3000}}),
		middlewaretest.Say("ok"),
	}
	model := middleware.Chain(look)(middlewaretest.Script(answers...).Model)
	req := &middleware.Request{Messages: []message.Message{message.User(strings.Repeat("word ", 3000))}, Budget: &middleware.Budget{Window: 8000}}
	_, err := model(t.Context(), req, nil)
	require.Error(t, err)
	_, err = model(t.Context(), req, nil)
	require.NoError(t, err)
	require.Less(t, last.Window, 8000, "after the refusal")
	_, err = model(t.Context(), req, nil)
	require.NoError(t, err)
	require.Equal(t, 8000, last.Window, "after the same prompt was taken")
}
