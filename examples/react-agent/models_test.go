package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/fakeprovider"
)

// reads is a model that reads one file again and again and then answers.
func reads(calls int) fakeprovider.Responder {
	return fakeprovider.ToolLoop{
		Tool: "read_file", Calls: calls, Answer: fakeprovider.Text("None has."),
		Arguments: func(n int) string { return fmt.Sprintf(`{"path": "tree/a.go", "from": %d}`, 60*n-59) },
	}.Responder()
}

// A real client asks a strict provider, and the chain keeps it within the
// window.
func TestOpenAI(t *testing.T) {
	server, err := fakeprovider.Start(reads(20), fakeprovider.Options{Models: map[string]int{"gpt-4o": 8000}, Key: "a key"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	t.Setenv("OPENAI_API_KEY", "a key")
	t.Setenv("OPENAI_BASE_URL", server.URL)
	dir := write(t, map[string]string{"a.go": strings.Repeat("// a line that says nothing at all\n", 1300)})

	const task = "Which package has no tests?"
	args := []string{"-model", "openai:gpt-4o", "-task", task, "-dir", dir, "-window", "8000"}
	status, stdout, stderr := exec(t, append(args, "-json")...)
	require.Zero(t, status, stderr)
	var r report
	require.NoError(t, json.Unmarshal([]byte(stdout), &r))
	require.JSONEq(t, `"None has."`, string(r.Answer))
	require.Equal(t, 21, r.ModelCalls)
	require.NotEmpty(t, r.Edits)
	require.Zero(t, r.Violations)
	require.Empty(t, server.Refused())
	require.Contains(t, string(server.Requests()[0].Body), task)

	status, stdout, stderr = exec(t, args...)
	require.Zero(t, status, stderr)
	require.Contains(t, stdout, "react-agent openai:gpt-4o")
	require.NotContains(t, stdout, "stand-in")

	status, _, stderr = exec(t, append(args, "-chain", "none")...)
	require.Equal(t, 1, status)
	require.Contains(t, stderr, "maximum context length is 8000 tokens")
	require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)

	t.Setenv("OPENAI_API_KEY", "another")
	status, _, stderr = exec(t, args...)
	require.Equal(t, 1, status)
	require.Contains(t, stderr, "401")
}
