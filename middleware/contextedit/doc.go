// Package contextedit clears old tool results: their text gives way to a short
// placeholder, while the calls, the ids and the order of the messages stay. If
// asked, it also clears the inputs of their calls, and thinking of old turns.
//
//	contextedit.New(contextedit.Options{
//		Trigger:      trigger.Tokens(100_000),
//		Keep:         5,
//		ExcludeTools: []string{"db_query"},
//	})
//
// The newest results stay, as many as the options say, and those that no model
// has seen yet in any case. Once the trigger is met all others go at one time;
// what is cleared stays cleared, so that the beginning of the conversation is
// the same from call to call until the trigger is met again.
//
// Results that no model has seen yet take places among those that Keep counts:
// after four parallel calls, Keep: 4 holds no older result.
//
// Which results may go at all is said by tool, in [Options.Only] and
// [Options.ExcludeTools], and by a function, in [Options.MayClear]: a result goes
// if none of them objects. What may not go takes no place among those that Keep
// counts.
//
// A result that would not get shorter is left alone, and so is everything if
// less than [Options.ClearAtLeast] could be freed.
//
// Where [Options.StopAfter] leaves a choice, thinking goes first. Then come the
// results that have been superseded: the same tool was called again in a later
// round, with the same arguments, and has a whole result in the view that is no
// error. Arguments are the same if they are the same JSON value, with numbers
// written alike. Then come the other results, and errors last, those first among
// them whose call has worked since. Keep counts and holds superseded results
// like all others.
//
// If the chain has an archive ([middleware.Env]), what is cleared goes there first,
// as the tool gave it, and the placeholder says how to read it again: "[cleared:
// recall kqvmzhtwrcxa]". All pieces of a result are under one handle, the input of
// a call has its own. If the archive fails, nothing is cleared. A result of the tool
// [store.RecallTool] is not archived anew: its placeholder names the handle that
// the call asks for. Thinking leaves no placeholder and is not archived.
//
// With [Options.Digest], a cleared result leaves a line of its hard facts in the
// placeholder, as many as fit into so many tokens: "[cleared: recall kqvmzhtwrcxa;
// some facts: order_id: #W2378156; price: 272.33]". They stand there word for word.
// What the view shows anyway is left out, be it in the line of another placeholder.
// A placeholder with its line is always shorter than what it stands for. The page
// docs/digest.md tells what that keeps.
//
// Several may stand in a chain. They share their name, so that MinCalls and
// [middleware.Request.Force] hold for all of them.
package contextedit
