package server

import (
	"strings"

	"github.com/danielgtaylor/huma/v2/validation"
)

// remedies are what to do about each thing that huma finds wrong, by how its message begins. What follows there stands in
// the place of the %s. The first that fits is taken.
var remedies = []struct{ found, next string }{
	{"invalid integer", "give a whole number such as 10"},
	{"invalid float", "give a number such as 0.5"},
	{"invalid boolean", "give true or false"},
	{"unknown query parameter", "leave it out"},
	{"required ", "give it"},
	{isRequired, "give it"},
	{"request body is required", "send one"},
	{validation.MsgUnexpectedProperty, "leave it out"},
	{upTo(validation.MsgExpectedMinimumNumber), "give %s or more"},
	{upTo(validation.MsgExpectedMaximumNumber), "give %s or less"},
	{upTo(validation.MsgExpectedExclusiveMinimumNumber), "give more than %s"},
	{upTo(validation.MsgExpectedExclusiveMaximumNumber), "give less than %s"},
	{upTo(validation.MsgExpectedMinLength), "give at least so many characters"},
	{upTo(validation.MsgExpectedMaxLength), "shorten it"},
	{upTo(validation.MsgExpectedMinItems), "give %s or more"},
	{upTo(validation.MsgExpectedMaxItems), "give %s at most"},
	{upTo(validation.MsgExpectedOneOf), "use one of them"},
	{validation.MsgExpectedRFC3339DateTime, "use one such as 2006-01-02T15:04:05Z"},
	{validation.MsgExpectedString, "give a text in quotes"},
	{validation.MsgExpectedInteger, "give a whole number such as 10, without quotes"},
	{validation.MsgExpectedNumber, "give a number such as 0.5, without quotes"},
	{validation.MsgExpectedBoolean, "give true or false, without quotes"},
	{validation.MsgExpectedArray, "give a list in [ and ]"},
	{validation.MsgExpectedObject, "give an object in { and }"},
}

// isRequired is what is said of something that is not there.
const isRequired = "is required"

// upTo is a message up to the value in it.
func upTo(message string) string {
	before, _, _ := strings.Cut(message, "%")
	return before
}

// remedied is what huma found wrong, with what to do about it. Where that is told already, it stays as it is.
func remedied(found string) string {
	for _, r := range remedies {
		if value, is := strings.CutPrefix(found, r.found); is && !strings.Contains(found, "; ") {
			return found + "; " + strings.ReplaceAll(r.next, "%s", value)
		}
	}
	return withNext(found, "")
}

// withNext is what is wrong with a field, or with a whole body where there is none, with where it stands what is taken there.
// Where it is told already what to do, it stays as it is.
func withNext(found, field string) string {
	switch {
	case strings.HasSuffix(found, "raise the limit"):
		return strings.TrimSuffix(found, "raise the limit") + "serve with a larger --max-text, or --max-blob for pictures and recordings"
	case strings.HasSuffix(found, "raise MaxTurns"):
		return strings.TrimSuffix(found, "raise MaxTurns") + "serve with a larger --max-turns"
	case strings.Contains(found, "; "):
		return found
	case field == "":
		return found + "; send one JSON object, as " + docsPath + " describes it"
	}
	return found + "; see in " + docsPath + " what it takes"
}
