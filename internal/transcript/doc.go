// Package transcript writes conversations so that people can read and write them,
// for the golden files of tests. A message is a paragraph without blank lines:
//
//	system: You fix builds.
//	user [pinned]: Why does the build fail?
//	assistant [low]: I look.
//	  thinking: The log will tell.
//	  thinking [seal]: signed by the provider
//	  call c1 read_log {"job":"nightly"}
//	  call c2 read_log {"job":"weekly"}
//	tool:
//	  result c1 read_log: «exit status 2 »×40
//	  error c2 read_log: no such job
//	tool:
//	  result c3 shot: two pieces, this one
//	  image c3 shot: «.»×4000
//	  artifact c3 shot: build.zip
//
// A text is written as it is, as «unit»×n if it repeats, or quoted as in Go. What
// stands in brackets are hints: pinned, and the priorities low, normal, high and
// critical. A line === says that the model is called with what stands above it.
package transcript
