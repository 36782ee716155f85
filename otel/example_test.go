package otel_test

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/otel"
)

// The spans of one request.
func ExampleNew() {
	spans := tracetest.NewInMemoryExporter()
	observe, err := otel.New(otel.Options{Tracers: trace.NewTracerProvider(trace.WithSyncer(spans))})
	if err != nil {
		fmt.Println(err)
		return
	}
	model := middleware.Chain(observe, contextedit.New(contextedit.Options{}), fit.New(fit.Options{}))(answer)
	_, err = model(context.Background(), &middleware.Request{
		Messages: []message.Message{message.User("What is the capital of France?")}, Model: "claude-sonnet-4-5",
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range spans.GetSpans() {
		fmt.Println(s.Name, s.SpanKind)
	}
	// Output:
	// chat claude-sonnet-4-5 client
	// laconic.request internal
}
