// Package demo is a conversation that the program ships and its replay through the whole pipeline.
//
// Nothing is faked and no model takes part: what the user said is appended, a prompt is compiled before everything
// that the agent says, what tools answered is appended, and every exchange is committed, as an agent of your own
// would do it. What came of it stays in the store.
package demo
