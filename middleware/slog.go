package middleware

import (
	"context"
	"log/slog"
	"reflect"
	"strings"
	"unicode"

	"github.com/laconic-go/laconic/models"
)

// Slog returns an observer for [Observe] that logs each event: at level Warn if it is a [Event.Warning], at level Debug if
// it is [Called], else at level Info. A struct in an event, such as its Detail, is a group with a key
// in snake_case for each field: money in dollars, a list as its length. No event of this module has text of
// the conversation in what is logged, but an error may have what a provider, a store or a function of the caller puts
// into it.
func Slog(l *slog.Logger) func(ctx context.Context, e Event) {
	return func(ctx context.Context, e Event) {
		level := slog.LevelInfo
		switch {
		case e.Warning():
			level = slog.LevelWarn
		case e.Kind == Called:
			level = slog.LevelDebug
		}
		if !l.Enabled(ctx, level) {
			return
		}
		attrs := []slog.Attr{slog.String("by", e.By), slog.String("why", e.Why)}
		if e.Kind == Edited {
			attrs = append(attrs, slog.Int("edits", len(e.Edits)),
				slog.Int("before", e.Before), slog.Int("after", e.After), slog.Int("calls", e.Calls))
		}
		if e.Reason != "" {
			attrs = append(attrs, slog.String("reason", e.Reason))
		}
		if e.Err != nil {
			attrs = append(attrs, slog.Any("err", e.Err))
		}
		if e.Call != nil {
			attrs = append(attrs, slog.Any("call", group(reflect.ValueOf(*e.Call))))
		}
		if e.Economics != nil {
			attrs = append(attrs, slog.Any("economics", group(reflect.ValueOf(*e.Economics))))
		}
		if d := reflect.ValueOf(e.Detail); d.Kind() == reflect.Struct {
			attrs = append(attrs, slog.Any("detail", group(d)))
		} else if e.Detail != nil {
			attrs = append(attrs, slog.Any("detail", e.Detail))
		}
		l.LogAttrs(ctx, level, string(e.Kind), attrs...)
	}
}

// group returns a struct as a group with a key in snake_case for each exported field: numbers as they are, a [models.Cost] in
// dollars, a list as its length, a struct as a group. Costs of 0, which are unknown, and empty texts, lists and structs are
// left out.
func group(v reflect.Value) slog.Value {
	var attrs []slog.Attr
	for f, field := range v.Fields() {
		number := field.CanInt() || field.CanFloat() || field.Kind() == reflect.Bool
		if !f.IsExported() || field.IsZero() && (!number || f.Type == reflect.TypeFor[models.Cost]()) {
			continue
		}
		value := field.Interface()
		if cost, ok := value.(models.Cost); ok {
			value = cost.Dollars()
		}
		switch field.Kind() { //nolint:exhaustive // others are logged as they are
		case reflect.Struct:
			value = group(field)
		case reflect.Slice:
			value = field.Len()
		}
		attrs = append(attrs, slog.Any(snake(f.Name), value))
	}
	return slog.GroupValue(attrs...)
}

// snake returns a name such as BreakEven as break_even.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
