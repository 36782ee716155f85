// Package fit is the last layer of a chain. It makes each request valid for its provider and small enough for its window.
//
//	model := middleware.Chain(
//		contextedit.New(contextedit.Options{}),
//		fit.New(fit.Options{}),
//	)(provider)
//
// What a provider accepts goes out as it came, byte for byte, unless it does not fit. A request that is sent has no more tokens
// than the window less the reserve ([middleware.View.Size]), and no more bytes and images than the provider accepts
// ([Options.Limits]); if that is impossible, the call fails before the model is called, with an [Irreducible]. A repair
// ([message.Rules.Repair]) is made only where the request breaks a rule of the API by which it is sent or, as far as it is known,
// of the model's provider ([Options.Rules]). In doubt a request passes, and the server decides: if it refuses the structure of a
// request, the same is sent once more under the strict rules of all providers. An ID of a call that an answer of the server has
// brought is valid for it. No model is needed for that.
//
// # How fit decides
//
//  1. A judgement of the view has its size, what repairs would add, and the room: the window less the reserve and a margin
//     for the error of the count. If nothing is exceeded, nothing is edited.
//  2. Otherwise a table of attempts is gone through, and the first whose plan fits is taken.
//  3. The first attempt only shortens, and its placeholders have facts. The next ones leave out messages, then also handles and
//     the note, then all that is not protected. The last ones cut protected tools and the arguments of the
//     newest calls as well, and leave out what only the provider can read, since a request that cannot be sent is worse.
//  4. An attempt begins with a draft, which is the view without the media that the provider would reject.
//  5. If what cannot be left out is too large by itself, the largest parts of it are cut: mostly the newest results.
//  6. A table of steps shortens the draft until it fits, oldest messages first: results are cleared, arguments shortened,
//     thinking and media removed, units of messages left out.
//  7. Each step continues until [Options.Target] is reached, so that the next calls fit without an edit.
//  8. The core makes the view of the plan, and a second judgement decides: if the plan does not fit, the attempt is made once
//     more with less room, and then the next attempt.
//  9. The first two attempts are made with the margin, then all without it, and if the window is a guess, without the guess.
//  10. What no attempt makes fit is an error with the sizes of what is left; what the provider still refuses is shortened and
//     sent once more, by what the chain has learned from the refusal.
//
// Summaries, memories and what the host calls critical are left out last. With an archive, what is removed is archived, and
// placeholders, cuts and the note have its handle. Edits for which these had no room hold for one request only, and all
// others not in a larger window than they were made for. If the window is not known, tokens are not bounded, and an event
// reports it. Repairs ([message.Rules.Repair]) are made just before the model is called, in this call only.
//
// Put fit last. What a later middleware adds is repaired, but not made smaller.
package fit
