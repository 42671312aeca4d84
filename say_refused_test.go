package turnstone_test

import (
	"errors"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// A call that is wrong in itself keeps nothing of what was said, however often it comes and whoever runs the exchange: with the
// session's last prompt in memory, as at first, and without it, as from the second time on.
func TestWhatIsRefusedIsNotKept(t *testing.T) {
	const tooMuch = 999_999
	for _, test := range []struct {
		name, field, model string
		begin              func(*turnstone.Session) error
	}{
		{"Say", "context", "gpt-4o", func(s *turnstone.Session) error {
			_, err := s.Say(t.Context(), "Refused?", turnstone.WithModel("", llmtest.NewScript("No."), tooMuch))
			return err
		}},
		{"Stream", "context", "gpt-4o", func(s *turnstone.Session) (err error) {
			for _, err = range s.Stream(t.Context(), "Refused?", turnstone.WithModel("gpt-4", llmtest.NewScript("No."), tooMuch)) {
			}
			return err
		}},
		{"Say with too little", "context", "gpt-4o", func(s *turnstone.Session) error {
			_, err := s.Say(t.Context(), "Refused?", turnstone.WithModel("", llmtest.NewScript("No."), 1))
			return err
		}},
		{"Conversation", "context", "gpt-4o", func(s *turnstone.Session) error {
			c := s.Conversation(turnstone.WithModel("", nil, tooMuch))
			return refusal(t, c.(opening))
		}},
		{"Conversation with late items", "late[0]", "gpt-4o", func(s *turnstone.Session) error {
			c := s.Conversation(turnstone.WithLate("\xff"))
			return refusal(t, c.(opening))
		}},
		{"Relay", "context", "gpt-4o", func(s *turnstone.Session) error {
			r := s.Relay(turnstone.RelayOptions{Context: tooMuch, After: turnstone.Head})
			return refusal(t, r)
		}},
		{"Relay for the session's model", "context", "", func(s *turnstone.Session) error {
			r := s.Relay(turnstone.RelayOptions{Context: tooMuch, After: turnstone.Head})
			return refusal(t, r)
		}},
		{"Relay with settings for the session's model", "system", "", func(s *turnstone.Session) error {
			r := s.Relay(turnstone.RelayOptions{Settings: prompt.Settings{System: "\xff"}, After: turnstone.Head})
			return refusal(t, r)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			eng := open(t, mem.New(mem.Config{}), turnstone.Config{Model: llmtest.NewScript("One.", "Two."), ModelName: test.model})
			s, err := eng.Create(t.Context(), turn.SessionInfo{Key: turn.Key{Session: "k1"}, Model: "gpt-4o"})
			if err != nil {
				t.Fatal(err)
			}
			say(t, s, turn.User, "Hello.")
			if test.model != "" {
				for _, text := range []string{"One?", "Two?"} {
					if _, err := s.Say(t.Context(), text); err != nil {
						t.Fatal(err)
					}
				}
			}
			before, err := s.Info(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				var wrong *invalid.Field
				if err := test.begin(s); !errors.As(err, &wrong) || wrong.Name != test.field {
					t.Fatal(err)
				}
			}
			if info, err := s.Info(t.Context()); err != nil || info.Head != before.Head {
				t.Errorf("%d turns of %d, %v", info.Head, before.Head, err)
			}
		})
	}
}

type opening interface {
	agent.Conversation
	agent.Early
}

// refusal is why an exchange of a loop of somebody's own does not begin; one that does is ended.
func refusal(t *testing.T, c opening) error {
	err := c.Begin(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "Refused?"}})
	if err != nil {
		return err
	}
	_, err = c.Begun(t.Context())
	return errors.Join(err, c.End(t.Context(), agent.Ending{State: commit.Failed}))
}
