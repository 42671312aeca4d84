package demo

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// tidewatch is the conversation that the program ships.
//
//go:embed tidewatch.jsonl
var tidewatch string

// Conversation is one that can be replayed.
type Conversation struct {
	// Session is what its session is called, and Title what it is about.
	Session, Title string
	// Settings are what its prompts begin with.
	Settings prompt.Settings
	// Exchanges are what was said and done, in order, each with an input first and a reply last.
	Exchanges []commit.Exchange
	// Pins are the exchanges, counted from 1, whose input is pinned.
	Pins []int
	// Probes are what is looked for when it is over.
	Probes []Probe
}

// Probe is something that was said in an exchange.
type Probe struct {
	// Exchange is when it was said, counted from 1.
	Exchange int `json:"exchange"`
	// Text is what was said, to the letter.
	Text string `json:"text"`
	// Ask is a question that it answers.
	Ask string `json:"ask"`
}

// Shipped returns the conversation that the program ships.
func Shipped() (Conversation, error) { return Parse(tidewatch) }

// Parse reads a conversation: JSON Lines, the first of which says what it is. Every other line is an exchange as
// [commit.DecodeExchange] reads it. Errors name the line.
func Parse(text string) (Conversation, error) {
	var c Conversation
	n := 0
	for line := range strings.Lines(text) {
		n++
		var err error
		if n == 1 {
			c, err = parseHead(line)
		} else {
			var ex commit.Exchange
			if ex, err = parseExchange(line); err == nil {
				c.Exchanges = append(c.Exchanges, ex)
			}
		}
		if err != nil {
			return Conversation{}, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return c, c.check()
}

func parseHead(line string) (Conversation, error) {
	var head struct {
		Session string `json:"session"`
		Title   string `json:"title"`
		System  string `json:"system"`
		Tools   []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"schema"`
		} `json:"tools"`
		Pins   []int   `json:"pins"`
		Probes []Probe `json:"probes"`
	}
	d := json.NewDecoder(bytes.NewReader([]byte(line)))
	d.DisallowUnknownFields()
	if err := d.Decode(&head); err != nil {
		return Conversation{}, err
	}
	c := Conversation{Session: head.Session, Title: head.Title, Settings: prompt.Settings{System: head.System}, Pins: head.Pins, Probes: head.Probes}
	for _, t := range head.Tools {
		c.Settings.Tools = append(c.Settings.Tools, prompt.Definition{Name: t.Name, Description: t.Description, Schema: string(t.Schema)})
	}
	return c, c.Settings.Check()
}

func parseExchange(line string) (commit.Exchange, error) {
	ex, err := commit.DecodeExchange(line)
	if err != nil {
		return ex, err
	}
	if n := len(ex.Turns); n < 2 || ex.Turns[0].Role != turn.User || ex.Turns[n-1].Role != turn.Agent {
		return ex, invalid.New("turns", "they are no exchange", "begin with what the user said and end with the agent's reply")
	}
	return ex, nil
}

func (c *Conversation) check() error {
	if len(c.Exchanges) == 0 {
		return invalid.New("conversation", "it has no exchange", "add a line for each")
	}
	if c.Session == "" {
		return invalid.New("session", "it has no name", "give one in the first line")
	}
	numbers := append([]int{}, c.Pins...)
	for _, p := range c.Probes {
		numbers = append(numbers, p.Exchange)
	}
	for _, n := range numbers {
		if n < 1 || n > len(c.Exchanges) {
			return invalid.New("exchange", fmt.Sprintf("there is no exchange %d", n), fmt.Sprintf("give one from 1 to %d", len(c.Exchanges)))
		}
	}
	return nil
}
