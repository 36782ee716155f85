// Package contextedit clears old tool results: a short placeholder replaces their text.
// Calls, IDs and the order of the messages do not change. Options also clear the
// arguments of those calls, and the thinking of old turns.
//
//	contextedit.New(contextedit.Options{
//		Trigger:      trigger.Tokens(100_000),
//		Keep:         5,
//		ExcludeTools: []string{"db_query"},
//	})
//
// Each time the trigger is met, all results are cleared except the newest ones and those
// that no model has seen yet, which count for Keep as well. They remain cleared, so that
// the beginning of the conversation is the same until the trigger is met again. A result
// that would not become shorter is kept. Results that [Options.Only],
// [Options.ExcludeTools] or [Options.MayClear] protect do not count for Keep.
//
// With [Options.StopAfter], the order is: thinking, superseded results, other results,
// errors of superseded calls, other errors. A result is superseded if the same tool was
// called again in a later round with arguments of the same JSON value (numbers as they are
// written), and that result is not an error and is in the view as a whole.
//
// With an archive ([middleware.Env]), results are archived as the tool returned them, and
// the placeholder contains the handle: "[cleared: recall kqvmzhtwrcxa]". If the archive
// fails, nothing is cleared. Results of the tool [store.RecallTool] are kept as long as
// the others free as much, and are not archived again: their placeholder contains the
// handle in the call. Thinking is not archived.
//
// With [Options.Digest], the placeholder contains the hard facts of the result that the
// view does not show elsewhere, verbatim: "[cleared: recall kqvmzhtwrcxa; some facts:
// order_id: #W2378156; price: 272.33]". See docs/internals/digest.md.
//
// A chain may contain several of these middlewares. They have one name, so MinCalls and
// [middleware.Request.Force] apply to all of them.
package contextedit
