// Package react runs the ReAct loop: a model is asked, the tools that it calls
// are run, and it is asked again, until it answers without a call.
//
//	a := react.Agent{Model: model, Tools: tools}
//	for event, err := range a.Run(ctx, message.User("Why does the nightly build fail?")) {
//		switch e := event.(type) {
//		case react.Delta:
//			fmt.Print(e.Text)
//		case react.Edit:
//			log.Print(e)
//		case react.End:
//			history, failure = e.History, err
//		}
//	}
//
// The loop keeps the whole history. What the model sees of it is the business
// of the middlewares around the model.
//
// # Going on
//
// A run starts from any history: a question, an answered conversation with a
// new question, the history of a run that failed or was cancelled. The last
// event of a run is always [End], and its history is what the next one starts
// from. Limits are counted on the history, so a run that goes on from an
// earlier one goes on counting.
//
// # What the model sees of failures
//
// A tool that fails, panics or takes too long, a tool that does not exist,
// arguments that do not fit, a call that was not approved or is above the
// limit: each becomes an error result that says what is wrong, and the loop
// goes on. The run itself fails only if the model does, if its answer cannot
// be used, if the context is done, or at [ErrMaxSteps].
package react
