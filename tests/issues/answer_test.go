package issues

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
)

// A model that returned both a response and an error, or neither, broke the
// contract of the chain before it as well.
func TestEitherAnswerOrError(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	for name, c := range map[string]struct {
		resp *middleware.Response
		err  error
		want error
		kind middleware.ErrorKind
	}{
		"both":    {&middleware.Response{}, down, down, middleware.Unknown},
		"neither": {nil, nil, nil, middleware.Invalid},
	} {
		model := middleware.Chain(contextedit.New(contextedit.Options{}))(
			func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
				return c.resp, c.err
			})
		resp, err := model(t.Context(), &middleware.Request{Messages: []message.Message{message.User("go")}}, nil)
		require.Nil(t, resp, "%s: there is no response beside an error", name)
		require.Error(t, err, name)
		require.Equal(t, c.kind, middleware.KindOf(err), name)
		if c.want != nil {
			require.ErrorIs(t, err, c.want, name)
		}
	}
}
