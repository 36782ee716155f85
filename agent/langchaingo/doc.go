// Package langchaingo puts middlewares around the models of
// github.com/tmc/langchaingo, and takes these models into our own loop.
//
// A program that uses langchaingo adds one line, where it makes its model:
//
//	llm, err := openai.New()
//	model := langchaingo.Wrap(llm, contextedit.New(contextedit.Options{}))
//	agent := agents.NewOpenAIFunctionsAgent(model, tools)
//
// Every agent, chain and memory of langchaingo ends in the one method that
// [Wrap] goes around, so none of them needs to know. What the middlewares do
// not touch reaches the model as it came, to the very slice of parts.
//
// The other way round, [Model] makes a middleware.Model of any model of
// langchaingo, for package react and for chains of one's own:
//
//	a := react.Agent{Model: chain(langchaingo.Model(llm)), Tools: tools}
//
// [Import] and [Export] convert conversations.
package langchaingo
