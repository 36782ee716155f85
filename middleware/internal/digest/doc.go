// Package digest makes one line of the hard facts in a text that leaves the view:
// what an agent is likely to need again, word for word, and cannot make up.
//
//	lines := digest.Lines(cleared, kept, digest.Options{Tokens: 40})
//	// "order_id: #W2378156; price: 272.33; yusuf_rossi_9620"
//
// Facts are identifiers, amounts, dates, e-mail addresses, links, paths, hashes,
// versions, hosts, phone numbers, messages of errors, names in quotes, names of
// programs and the values behind telling keys. They are found by rules, without a model and
// without knowing the language of the text: in JSON, also if it is cut off or in
// a string of other JSON; in tables of Markdown, CSV and TSV; in lines such as
// "Total: 54.04"; in listings, search results, diffs, logs, stack traces, HTML,
// code and prose.
//
// Each fact stands in the line as it stands in the text, so that a search for it
// finds it. In JSON, \u5f20 and \/ are read as the characters that they stand
// for. A fact that says little by itself has its key in front of it.
// There is nothing else in the line, no control character and no line break.
//
// A fact is left out if it occurs in what is kept, or in the line of another text
// that is cleared. What is most likely to be needed comes first, for its cost
// in tokens: kinds of facts have a worth; what the user and the model speak of
// counts more, as does what stands at the beginning.
//
// The page docs/digest.md tells what that keeps of recorded conversations.
package digest
