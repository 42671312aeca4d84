// Package budget is what a prompt may cost: how many tokens stand in a text, how many fit a window, and
// where every one of them goes.
//
//	Profile ──► Window ──────────────┐
//	   │                             ├──► Account ──► fits, or ErrOverBudget with the account
//	   └──► Counter ──► Tally ───► Count
//	          ▲                      │
//	     Calibration ◄── what the provider reported
//
// A [Counter] counts with the model's own vocabulary where it is known, and otherwise with o200k and the
// factors that a [Calibration] learned from the provider's reports. Every [Count] says how sure it is. The
// package owns one promise: a window is never overspent silently. Hard checks use [Count.Upper], and a report
// that is too low for what was sent is [Truncated] until [Calibration.Report] knows better.
package budget
