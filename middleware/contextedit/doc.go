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
// that no model has seen yet. They remain cleared, so that the beginning of the
// conversation is the same from call to call until the trigger is met again. A result
// that would not become shorter is kept. If less than [Options.ClearAtLeast] would be
// freed, everything is kept.
//
// Results that no model has seen yet count for Keep: after four parallel calls, Keep: 4
// keeps no older result. [Options.Only], [Options.ExcludeTools] and [Options.MayClear]
// all have to allow that a result is cleared. Results that they protect do not count for
// Keep.
//
// With [Options.StopAfter], the order is: thinking, superseded results, other results,
// errors of superseded calls, other errors. A result is superseded if the same tool was
// called again in a later round with arguments of the same JSON value, and returned a
// result that is not an error and is in the view as a whole. Numbers are the same if they
// are written alike. The Keep options hold superseded results, too.
//
// If the chain has an archive ([middleware.Env]), results are archived as the tool
// returned them, before they are cleared, and the placeholder contains the handle:
// "[cleared: recall kqvmzhtwrcxa]". All pieces of a result have one handle, and the
// arguments of a call have another. If the archive fails, nothing is cleared. Results of
// the tool [store.RecallTool] are not archived again: their placeholder contains the
// handle in the call. Thinking is not archived and has no placeholder.
//
// With [Options.Digest], the placeholder contains the hard facts of the result, verbatim,
// as many as fit into that many tokens: "[cleared: recall kqvmzhtwrcxa; some facts:
// order_id: #W2378156; price: 272.33]". Facts that are still in the view are omitted. A
// placeholder is always shorter than the result. See docs/digest.md.
//
// A chain may contain several of these middlewares. They have one name, so MinCalls and
// [middleware.Request.Force] apply to all of them.
package contextedit
