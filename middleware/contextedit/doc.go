// Package contextedit clears old tool results: their text gives way to a short
// placeholder, while the calls, the ids and the order of the messages stay.
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
// A result that would not get shorter is left alone, and so is everything if
// less than [Options.ClearAtLeast] could be freed. Results of tools that failed
// go last.
//
// Several may stand in a chain. They share their name, so that MinCalls and
// [middleware.Request.Force] hold for all of them.
package contextedit
