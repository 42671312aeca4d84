// Package chat is the screen of a conversation: what is being said, a place to write, and the status line.
//
// What is finished is printed above and belongs to the terminal, which scrolls and copies it. The screen itself is
// what changes: the last line of the reply that comes, what is being waited for, the input and the status line.
//
// [Screen] is a model of Bubble Tea: all that happens comes to it as a message, and everything that may take long
// is done by commands, in goroutines that Bubble Tea owns. It is drawn by [Run]. [Backend] is the conversation behind it.
package chat
