// Package prose reads what people and models write: which language it is in,
// its sentences without the code between them, and how a piece of it can stand
// in a line of its own.
//
//	for s := range prose.Sentences("Fix the build. Do not touch the tests!") {
//		fmt.Println(s.Text)
//	}
//
// It knows no grammar, only scripts and punctuation. All functions are pure and
// safe for concurrent use, take any string, also one that is not valid UTF-8, and
// work in time proportional to what they read.
package prose
