package dialogue

import (
	"context"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// HandleLight answers one request of the follow-up context's JSON, such as
//
//	{"session":"alice","action":"retrieve"}
//
// with one compact JSON object, without a newline. The actions are store, with all of last_intent,
// last_task_id, pending_fields and last_user_message, which may be null, retrieve and clear, for which
// these four are not looked at. Whatever is wrong, the answer says so as
// {"success":false,"error":…}; what is refused before it reaches the store changes nothing.
func HandleLight(ctx context.Context, store LightStore, tenant string, request []byte) []byte {
	answer, err := answerLight(ctx, store, tenant, string(request))
	if err != nil {
		return append(appendRepaired([]byte(`{"success":false,"error":`), err.Error()), '}')
	}
	return answer
}

func answerLight(ctx context.Context, store LightStore, tenant, text string) ([]byte, error) {
	r, err := readLight(text)
	if err != nil {
		return nil, err
	}
	action, session, err := r.address()
	if err != nil {
		return nil, err
	}
	key := LightKey{Tenant: tenant, Session: session}
	if err := key.Check(); err != nil {
		return nil, err
	}
	switch action {
	case "store":
		c, err := r.context()
		if err != nil {
			return nil, err
		}
		if err := store.Store(ctx, key, c); err != nil {
			return nil, storageFailure(err)
		}
		return append(appendLight([]byte(`{"success":true,"stored_context":`), c), '}'), nil
	case "retrieve":
		c, ok, err := store.Retrieve(ctx, key)
		if err != nil {
			return nil, storageFailure(err)
		}
		if !ok {
			return []byte(`{"success":true,"context":null}`), nil
		}
		return append(appendLight([]byte(`{"success":true,"context":`), c), '}'), nil
	default:
		if err := store.Clear(ctx, key); err != nil {
			return nil, storageFailure(err)
		}
		return []byte(`{"success":true,"message":"Context cleared successfully"}`), nil
	}
}

// refusal is an error whose text goes into the answer as it stands.
type refusal string

func (r refusal) Error() string { return string(r) }

func storageFailure(err error) error { return refusal("Storage failure: " + err.Error()) }

// lightFields are the members of a request in the order in which they are listed; the last four are
// those of the context.
var lightFields = []string{"session", "action", "last_intent", "last_task_id", "pending_fields", "last_user_message"}

const (
	lightSession = iota
	lightAction
	lightIntent
	lightTask
	lightPending
	lightMessage
)

// lightRequest is a request as it was written. A member that is missing is empty.
type lightRequest struct {
	values  [6]strictjson.Raw // by the constants above
	unknown []string
}

func readLight(text string) (lightRequest, error) {
	var r lightRequest
	err := strictjson.Object(text, func(name string, v strictjson.Raw) error {
		if i := slices.Index(lightFields, name); i >= 0 {
			r.values[i] = v
		} else {
			r.unknown = append(r.unknown, name)
		}
		return nil
	})
	if err != nil {
		return r, refusal("Invalid JSON: " + err.Error())
	}
	return r, nil
}

// address returns what to do and for which session, once the request is whole.
func (r lightRequest) address() (action, session string, err error) {
	required := 2
	if v := r.values[lightAction]; v != "" {
		if action, err = lightText(lightAction, v, "a string: 'store', 'retrieve', or 'clear'"); err != nil {
			return "", "", err
		}
		switch action {
		case "store":
			required = len(lightFields)
		case "retrieve", "clear":
		default:
			return "", "", refusal("Invalid action: '" + action + "'. Must be 'store', 'retrieve', or 'clear'")
		}
	}
	if len(r.unknown) > 0 {
		return "", "", refusal("Unknown fields: " + strings.Join(r.unknown, ", ") + ". Must be among " + strings.Join(lightFields, ", "))
	}
	var missing []string
	for i, name := range lightFields[:required] {
		if r.values[i] == "" {
			missing = append(missing, name)
		}
	}
	if missing != nil {
		return "", "", refusal("Missing required fields: " + strings.Join(missing, ", "))
	}
	session, err = lightText(lightSession, r.values[lightSession], "a string")
	return action, session, err
}

func (r lightRequest) context() (c LightContext, err error) {
	if c.LastIntent, err = r.nullable(lightIntent, "a string or null"); err != nil {
		return LightContext{}, err
	}
	if v := r.values[lightTask]; v.Kind() == strictjson.KindNumber {
		c.LastTaskID = new(string(v))
	} else if c.LastTaskID, err = r.nullable(lightTask, "a string, a number or null"); err != nil {
		return LightContext{}, err
	}
	if c.PendingFields, err = r.pending(); err != nil {
		return LightContext{}, err
	}
	if c.LastUserMessage, err = r.nullable(lightMessage, "a string or null"); err != nil {
		return LightContext{}, err
	}
	return c, nil
}

func (r lightRequest) nullable(field int, want string) (*string, error) {
	v := r.values[field]
	if v.IsNull() {
		return nil, nil
	}
	s, err := lightText(field, v, want)
	return &s, err
}

func (r lightRequest) pending() ([]string, error) {
	const want = "a list of strings"
	v := r.values[lightPending]
	if v.IsNull() {
		return nil, nil
	}
	if v.Kind() != strictjson.KindArray {
		return nil, refusal("pending_fields must be " + want)
	}
	var fields []string
	err := v.Array(func(v strictjson.Raw) error {
		s, err := lightText(lightPending, v, want)
		fields = append(fields, s)
		return err
	})
	return fields, err
}

// lightText decodes a string, or says what the field must be.
func lightText(field int, v strictjson.Raw, want string) (string, error) {
	s, err := v.String()
	if err == nil {
		return s, nil
	}
	if v.Kind() == strictjson.KindString {
		return "", refusal(lightFields[field] + " is not Unicode text: " + err.Error())
	}
	return "", refusal(lightFields[field] + " must be " + want)
}

func appendLight(dst []byte, c LightContext) []byte {
	dst = appendNullable(append(dst, `{"last_intent":`...), c.LastIntent)
	dst = appendNullable(append(dst, `,"last_task_id":`...), c.LastTaskID)
	dst = appendList(append(dst, `,"pending_fields":`...), c.PendingFields, appendRepaired)
	dst = appendNullable(append(dst, `,"last_user_message":`...), c.LastUserMessage)
	return append(dst, '}')
}

func appendNullable(dst []byte, s *string) []byte {
	if s == nil {
		return append(dst, "null"...)
	}
	return appendRepaired(dst, *s)
}

// appendRepaired appends a JSON string. What came in through Go or from a store's error may not be
// valid UTF-8, and the answer must be.
func appendRepaired(dst []byte, s string) []byte {
	return strictjson.AppendString(dst, strings.ToValidUTF8(s, "\ufffd"))
}
