// Package fit is the last layer of a chain: whatever happened before it, what the
// model is sent is valid for its provider, and fits.
//
//	model := middleware.Chain(
//		contextedit.New(contextedit.Options{}),
//		fit.New(fit.Options{}),
//	)(provider)
package fit
