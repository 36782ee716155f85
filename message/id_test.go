package message_test

import (
	"crypto/sha256"
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
)

// last returns the ID of the last position.
func last(h ...message.Message) message.ID {
	ids := message.IDs(h)
	return ids[len(ids)-1]
}

func TestIDsAreAChain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.SliceOfN(anyMessage(), 0, 8).Draw(t, "history")
		if message.Internals(inside.Key{}).Order(h) != nil {
			t.Skip("its results are in another order than its calls")
		}
		ids := message.IDs(h)
		require.Len(t, ids, len(h))
		require.Equal(t, ids, message.IDs(h), "not a pure function")
		var before message.ID
		for i, m := range h {
			if i < message.Leading(h) {
				require.True(t, ids[i].IsZero(), "message %d leads and has an ID", i)
				continue
			}
			m.Parts = slices.Clone(m.Parts)
			for k, p := range m.Parts {
				if r, ok := p.(message.ToolResult); ok {
					hash := message.HashContent("", r.Text)
					r.Text = string(hash[:])
					m.Parts[k] = r
				}
			}
			sum := sha256.Sum256(m.AppendContent(before[:]))
			require.Equal(t, message.ID(sum[:16]), ids[i], "message %d", i)
			before = ids[i]
		}
	})
}

// samples has a value of each type of part, with all its fields set.
func samples() []message.Part {
	return []message.Part{
		message.Text{Text: "text"},
		message.Thinking{Text: "text", Signature: "signature"},
		message.Media{Type: "type", URL: "url", Data: "data", Name: "name"},
		message.ToolCall{ID: "id", Name: "name", Arguments: "arguments"},
		message.ToolResult{CallID: "id", Name: "name", Text: "text", Error: true, Content: message.Media{Type: "type"}},
		message.Opaque{Kind: "kind", Data: "data"},
	}
}

func TestEveryFieldOfAPartIsInTheID(t *testing.T) {
	t.Parallel()
	for _, p := range samples() {
		id := last(message.Message{Role: message.RoleUser, Parts: []message.Part{p}})
		typ := reflect.TypeOf(p)
		for i := range typ.NumField() {
			field := typ.Field(i)
			require.False(t, reflect.ValueOf(p).Field(i).IsZero(), "samples leaves %s.%s out", typ, field.Name)
			for _, other := range others(t, field.Type) {
				changed := reflect.New(typ).Elem()
				changed.Set(reflect.ValueOf(p))
				changed.Field(i).Set(other)
				q := changed.Interface().(message.Part)
				require.NotEqual(t, id, last(message.Message{Role: message.RoleUser, Parts: []message.Part{q}}), "%#v and %#v", p, q)
			}
		}
	}
}

// others returns values of a type that samples does not have.
func others(t *testing.T, typ reflect.Type) []reflect.Value {
	t.Helper()
	switch typ.Kind() {
	case reflect.String:
		return []reflect.Value{reflect.ValueOf(""), reflect.ValueOf("other"), reflect.ValueOf("text\x00")}
	case reflect.Bool:
		return []reflect.Value{reflect.ValueOf(false)}
	case reflect.Interface:
		return []reflect.Value{
			reflect.Zero(typ), reflect.ValueOf(message.Media{Type: "other"}),
			reflect.ValueOf(message.Opaque{Kind: "type"}), reflect.ValueOf(message.Text{Text: "type"}),
		}
	default:
		require.Fail(t, "a part has a field of a new kind", "%s: see that it is in the ID and still comparable", typ)
		return nil
	}
}

func TestWhichFieldsOfAMessageAreInTheID(t *testing.T) {
	t.Parallel()
	content := map[string]reflect.Value{
		"Role":  reflect.ValueOf(message.RoleAssistant),
		"Name":  reflect.ValueOf("other"),
		"Parts": reflect.ValueOf([]message.Part{message.Text{Text: "a"}, message.Text{Text: "b"}}),
	}
	remarks := map[string]reflect.Value{
		"Time":  reflect.ValueOf(time.Unix(1, 0)),
		"Usage": reflect.ValueOf(&message.Usage{Input: 1}),
		"Hints": reflect.ValueOf(message.Hints{Pinned: true, Memory: true, Priority: message.PriorityHigh, Breakpoint: true}),
	}
	m := message.User("a")
	for i := range reflect.TypeFor[message.Message]().NumField() {
		name := reflect.TypeFor[message.Message]().Field(i).Name
		changed := m
		set := reflect.ValueOf(&changed).Elem().Field(i)
		if v, ok := content[name]; ok {
			set.Set(v)
			require.NotEqual(t, last(m), last(changed), "%s is content", name)
			require.False(t, m.Equal(changed), "%s is content", name)
			continue
		}
		require.Contains(t, remarks, name, "a new field: content or remark?")
		set.Set(remarks[name])
		require.Equal(t, last(m), last(changed), "%s is a remark", name)
		require.True(t, m.Equal(changed), "%s is a remark", name)
	}
}

// TestNoContentBeginsLikeAnother is what makes a chain of contents unambiguous:
// no content is the beginning of another one.
func TestNoContentBeginsLikeAnother(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyMessage().Draw(t, "a"), anyMessage().Draw(t, "b")
		x, y := string(a.AppendContent(nil)), string(b.AppendContent(nil))
		if a.Equal(b) {
			require.Equal(t, x, y)
			return
		}
		n := min(len(x), len(y))
		require.NotEqual(t, x[:n], y[:n])
	})
}

func TestIDAsText(t *testing.T) {
	t.Parallel()
	id := last(message.User("a"))
	require.Len(t, id.String(), 32)
	data, err := json.Marshal(map[message.ID]message.ID{id: id})
	require.NoError(t, err)
	require.JSONEq(t, `{"`+id.String()+`":"`+id.String()+`"}`, string(data))
	var back map[message.ID]message.ID
	require.NoError(t, json.Unmarshal(data, &back))
	require.Equal(t, map[message.ID]message.ID{id: id}, back)

	var zero message.ID
	require.True(t, zero.IsZero())
	require.False(t, id.IsZero())
	for text, want := range map[string]string{
		"":                    `message: id "" has 0 digits, want 32`,
		"ab":                  `message: id "ab" has 2 digits, want 32`,
		id.String() + "0":     `message: id "` + id.String() + `0" has 33 digits, want 32`,
		"x" + id.String()[1:]: `message: id "x` + id.String()[1:] + `": encoding/hex: invalid byte: U+0078 'x'`,
	} {
		got := id
		require.EqualError(t, got.UnmarshalText([]byte(text)), want)
		require.Equal(t, id, got, "changed by an id that cannot be read")
	}
}
