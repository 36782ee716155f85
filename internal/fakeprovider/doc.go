// Package fakeprovider is a provider of OpenAI chat completions that runs
// inside a test: an HTTP server on the loopback, as strict as the real one,
// that answers what the test says.
//
//	server, err := fakeprovider.Start(fakeprovider.Errand{Tool: "read", Calls: 40}.Brain(), fakeprovider.Options{
//		Models: map[string]int{"gpt-4o": 8_000},
//	})
//	defer server.Close()
//	… a client with the base URL server.URL …
//	require.Empty(t, server.Refused())
//
// It is an oracle of its own: it reads the wire format itself and shares no
// code with the packages that it judges. What it refuses it refuses with the
// provider's status, code and wording; see [Request.Check] for the rules and
// [Options.Lenient] for where it is stricter than the provider.
//
// What the answer is comes from a [Brain]. [Script], [Errand], [Recall] and
// [Checked] make some; a [Reply] can also be an error or a [Fault], such as a
// stream that is cut.
package fakeprovider
