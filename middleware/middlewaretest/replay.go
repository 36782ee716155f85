package middlewaretest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/tokens"
)

// replay is a conversation that was led through one instance, call by call.
type replay struct {
	name  string
	in    *instance
	steps []step
}

// step is one call of a replay that had an answer.
type step struct {
	*outcome

	call int // from 1
	req  *middleware.Request
}

// at says where in which replay something was seen.
func (r *replay) at(st step) string { return fmt.Sprintf("%s, call %d", r.name, st.call) }

// last returns the last step.
func (r *replay) last() step { return r.steps[len(r.steps)-1] }

// eachStep runs a check on each step of each replay.
func (s *subject) eachStep(check func(r *replay, i int) error) error {
	replays, err := s.replays()
	if err != nil {
		return err
	}
	for _, r := range replays {
		for i, st := range r.steps {
			if err := check(r, i); err != nil {
				return fmt.Errorf("%s: %w", r.at(st), err)
			}
		}
	}
	return nil
}

// scene is how a conversation is led through an instance.
type scene struct {
	conversation

	set   func(*middleware.Request) // prepares each request
	tight bool                      // a call may fail with an error that says what the caller can do
}

// scenes returns each conversation with room for all of it, with all triggers
// met, and with a window that is too small.
func (s *subject) scenes() (all []scene) {
	for _, c := range conversations() {
		if s.mends {
			c.msgs = message.Portable.Repair(c.msgs).Messages
		}
		full := tokens.Request(tokens.Chars4{}, c.msgs, nil)
		in := func(room string) conversation { return conversation{name: c.name + ", " + room, msgs: c.msgs} }
		all = append(
			all,
			scene{conversation: in("roomy window"), set: func(*middleware.Request) {}},
			scene{conversation: in("all triggers met"), set: func(req *middleware.Request) { req.Force = []string{"*"} }},
			scene{conversation: in("tight window"), tight: true, set: func(req *middleware.Request) {
				req.Budget = &middleware.Budget{Window: full * 2 / 3, Reserve: full / 20}
			}},
		)
	}
	return all
}

// replayAll leads each scene through a new instance.
func (s *subject) replayAll(around func(middleware.Middleware) middleware.Middleware) ([]*replay, error) {
	var all []*replay
	for _, sc := range s.scenes() {
		r, err := s.replay(sc, around)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// replay leads one scene through a new instance.
func (s *subject) replay(sc scene, around func(middleware.Middleware) middleware.Middleware) (*replay, error) {
	r := &replay{name: sc.name, in: s.wrap(around(s.newMiddleware()), done())}
	if err := r.run(sc); err != nil {
		return nil, fmt.Errorf("%s, %w", r.name, err)
	}
	return r, nil
}

// run makes the calls.
func (r *replay) run(sc scene) error {
	call := 0
	for history := range Prefixes(sc.msgs) {
		call++
		req := request(history)
		sc.set(req)
		out, err := r.in.answered(context.Background(), req, nil)
		switch {
		case err == nil:
			r.steps = append(r.steps, step{outcome: out, call: call, req: req})
		case sc.tight && middleware.KindOf(err) != middleware.Unknown:
		default:
			return fmt.Errorf("call %d: %w", call, err)
		}
	}
	if len(r.steps) == 0 {
		return errors.New("no call was answered")
	}
	return nil
}

type conversation struct {
	name string
	msgs []message.Message
}

func conversations() []conversation {
	return []conversation{
		{"parallel calls", decorated()},
		{"one long task", ReAct{Rounds: 12, Thought: 100, Result: 600, Answered: true}.Messages()},
		{"a chat without tools", chat(12)},
	}
}

// decorated returns a conversation with everything in it that a host may put
// there.
func decorated() []message.Message {
	msgs := ReAct{Rounds: 9, Parallel: 2, Result: 500, Thought: 80, PerTurn: 3}.Messages()
	questions, rounds := 0, 0
	for i := range msgs {
		m := &msgs[i]
		m.Time = time.Unix(int64(1000+i), 0)
		switch m.Role {
		case message.RoleUser:
			questions++
			m.Name = "ada"
			m.Hints.Pinned = questions == 2
			m.Hints.Breakpoint = questions == 1
		case message.RoleAssistant:
			rounds++
			m.Usage = &message.Usage{Input: 500 * rounds, Output: 50}
			m.Hints.Memory = rounds == 3
			if rounds%2 == 0 {
				m.Parts = append([]message.Part{message.Thinking{Text: Filler("I think", 60), Signature: "sealed"}}, m.Parts...)
			}
			if rounds%3 == 0 {
				m.Parts = append(m.Parts, message.Opaque{Kind: "cache_note", Data: fmt.Sprintf("note %d", rounds)})
			}
		case message.RoleTool:
			if rounds == 4 {
				result, _ := m.Parts[0].(message.ToolResult)
				result.Text, result.Content = "", message.Media{Type: "image/png", Data: "\x89PNG\xff"}
				m.Parts = append(m.Parts, result)
			}
			m.Hints.Pinned = rounds == 2
		case message.RoleSystem:
		}
	}
	return msgs
}

// chat returns questions and answers of some length.
func chat(turns int) []message.Message {
	msgs := []message.Message{message.System("You are brief."), message.System("Today is Monday.")}
	for i := range turns {
		msgs = append(msgs,
			message.User(Filler(fmt.Sprintf("Question %d:", i+1), 200)),
			message.Assistant(message.Text{Text: Filler(fmt.Sprintf("Answer %d:", i+1), 300)}))
	}
	return append(msgs, message.User("Last question: what did we say?"))
}
