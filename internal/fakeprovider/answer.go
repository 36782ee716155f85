package fakeprovider

import (
	"context"
	"net/http"
	"strconv"
)

// answer is a reply on its way to the client.
type answer struct {
	request *Request
	reply   Reply
	usage   Usage
	id      string
	created int64
}

type wireFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type wireCall struct {
	Index    *int         `json:"index,omitempty"` // in a stream only
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function wireFunction `json:"function"`
}

type wireMessage struct {
	Role      string        `json:"role"`
	Content   *string       `json:"content"`
	Refusal   *string       `json:"refusal"`
	Reasoning string        `json:"reasoning_content,omitempty"`
	Calls     []wireCall    `json:"tool_calls,omitempty"`
	Function  *wireFunction `json:"function_call,omitempty"`
}

type wireUsage struct {
	Prompt        int `json:"prompt_tokens"`
	Completion    int `json:"completion_tokens"`
	Total         int `json:"total_tokens"`
	PromptDetails struct {
		Cached int `json:"cached_tokens"`
		Audio  int `json:"audio_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int `json:"reasoning_tokens"`
		Audio     int `json:"audio_tokens"`
		Accepted  int `json:"accepted_prediction_tokens"`
		Rejected  int `json:"rejected_prediction_tokens"`
	} `json:"completion_tokens_details"`
}

func (u Usage) wire() *wireUsage {
	w := &wireUsage{Prompt: u.Prompt, Completion: u.Completion, Total: u.Prompt + u.Completion}
	w.PromptDetails.Cached = u.Cached
	w.CompletionDetails.Reasoning = u.Reasoning
	return w
}

func (a answer) finish() string { return a.reply.finish(a.request.Legacy) }

// body returns the answer in one piece.
func (a answer) body() []byte {
	type choice struct {
		Index    int         `json:"index"`
		Message  wireMessage `json:"message"`
		Logprobs *int        `json:"logprobs"`
		Finish   string      `json:"finish_reason"`
	}
	m := wireMessage{Role: "assistant", Reasoning: a.reply.Reasoning}
	if a.reply.Text != "" || len(a.reply.Calls) == 0 {
		m.Content = &a.reply.Text
	}
	for _, c := range a.reply.Calls {
		f := wireFunction{Name: c.Name, Arguments: c.Arguments}
		if a.request.Legacy {
			m.Function = &f
			continue
		}
		m.Calls = append(m.Calls, wireCall{ID: c.ID, Type: "function", Function: f})
	}
	return encode(struct {
		ID          string     `json:"id"`
		Object      string     `json:"object"`
		Created     int64      `json:"created"`
		Model       string     `json:"model"`
		Choices     []choice   `json:"choices"`
		Usage       *wireUsage `json:"usage"`
		Fingerprint string     `json:"system_fingerprint"`
	}{
		ID: a.id, Object: "chat.completion", Created: a.created, Model: a.request.Model,
		Choices: []choice{{Message: m, Finish: a.finish()}}, Usage: a.usage.wire(), Fingerprint: "fp_fake",
	})
}

// whole sends the answer in one piece, or breaks it.
func (a answer) whole(ctx context.Context, w http.ResponseWriter, e *entry) {
	body := a.body()
	half := body[:len(body)/2]
	switch a.reply.Fault {
	case Cut:
		e.set(func(r *Record) { r.Status = http.StatusOK })
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(half)                      // who is gone does not miss it
		_ = http.NewResponseController(w).Flush() // the same
		abort(e, Cut.String())
	case Hang:
		<-ctx.Done()
		abort(e, Hang.String())
	case Stop, Garble:
		writeJSON(w, e, http.StatusOK, half)
		e.set(func(r *Record) { r.Broken = a.reply.Fault.String() })
	default:
		writeJSON(w, e, http.StatusOK, body)
	}
}
