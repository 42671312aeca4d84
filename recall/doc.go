// Package recall is how we find it again: it ranks what was said in a session, in all sessions of a user
// or of a tenant, and what was remembered of them, by how well it answers a query.
//
// No model takes part. The places of the query's words come from the full-text index of the store; what is
// read of the log is the few turns that stand a chance. A turn is ranked by
//
//   - the words it shares with the query, rare ones more than common ones (BM25 over stems, irregular
//     forms and number words included), and whether they stand together;
//   - the words around it: a few turns before and after, since an answer seldom repeats its question, and
//     more so right after a question;
//   - who said it and when, where the query says so: a name, "I" or "you", a month, a year, and words
//     of time where it asks when;
//   - mildly, how recent it is, and of an item of memory how important.
//
// The same log gives the same ranking on every store. [Fuse] adds embeddings where there is a model for them.
//
// # Cost
//
// Of each word at most 2,048 places are read, the newest, and of the log at most 400 turns to judge the 200 best
// candidates, however long it is. A word that has more places still counts for every turn that a rarer word
// finds nearby. Of a tenant or a user the newest 10,000 sessions are searched. Of memory the newest 64 items are
// judged that hold a word, and the newest 64 that hold all of them.
//
// # Recalled text is no news
//
// What is found is shown in the late block of a prompt, which is no part of the log. What exchanges leave in
// memory is taken from the log alone. So recalled text is never extracted again, and neither it nor
// summaries, which are never hits, can be recalled a second time as if they had been said.
package recall
