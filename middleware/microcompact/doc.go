// Package microcompact shortens the bulky payloads of old rounds, before each
// model call: results of tools and, if asked, the arguments of their calls and
// what the model said with them. Their text gives way to a placeholder, while the
// calls, the ids and the order of the messages stay.
//
//	microcompact.New(microcompact.Options{})                         // the recommended defaults
//	microcompact.New(microcompact.Options{Limit: microcompact.Seed}) // arguments and text as well
//
// # Old rounds
//
// The newest four rounds stay, or as many as [Options.KeepRounds] says, and the
// round that no model has seen yet in any case. A round is an assistant message
// with tool calls and all its results, also when they are parallel. In older ones,
// each payload longer than its limit is shortened:
//
//	a result         [truncated: 5000 chars]
//	arguments        {"path":"a.go","content":"[truncated: 3122 chars]"}
//	                 {"truncated": 3150}, if that is still longer than the limit
//	text of a round  [truncated: 812 chars]
//
// Arguments keep their keys; the values longer than 60 characters give way. They
// are a valid JSON object afterwards, even if they were none. Media in a result,
// and what only its provider understands, give way whatever they weigh; a text
// beside them that is within the limit stays. Characters are Unicode code points.
//
// With [Options.Digest], a result leaves a line of its hard facts beside that, word
// for word, as far as the view does not show them:
//
//	[truncated: 5000 chars; some facts: order_id: #W2378156; price: 272.33]
//
// What would not get shorter stays, and so does what another middleware has put in
// place of something. Results and calls of protected tools stay ([Options.Protect]),
// always those of "Skill": instructions that the model goes by. A view of two
// messages or fewer stays as it is.
//
// # The prefix
//
// What is shortened stays shortened. Each round that becomes old changes the view
// at one place, four rounds before its end: the provider's prompt cache has to read
// anew what lies behind. With [Options.Batch], payloads wait until enough of them
// have come together, and the beginning of the view stays the same for several
// rounds.
//
// # At birth
//
// A result that is larger than a share of the room ([Options.FreshShare]) is
// shortened before any model has seen it: to its head and its tail, cut where
// lines end, with a mark between them that says how much is left out. So no
// provider has it in a cache. Whole it stays where the window is not known, below
// 1,000 tokens, and if its tool is protected. These edits have a name of their own,
// [AtBirth], and wait for no trigger. When their round is old, they give way to a
// placeholder like all others.
//
// # The archive
//
// With [middleware.Env.Archive], what is shortened is kept there before it goes,
// and each placeholder and mark names the handle by which a model can have it again:
//
//	[truncated: 5000 chars; recall kqvmzhtwrcxa]
//	{"path":"a.go","content":"[truncated: 3122 chars; recall kqvmzhtwrcxa]"}
//
// A handle gives the result with all its pieces, all arguments of the call, the
// text, the attachment, or, between head and tail, the piece as the tool gave it.
// Answers of the tool that recalls are not shortened at birth: they are as much as it
// gives at once. When they are old, their placeholders name the handle that was
// asked for.
package microcompact
