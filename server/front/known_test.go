package front

import (
	"slices"
	"strings"
	"testing"
)

// remembered puts a call of those messages, which all begin with their first byte.
func remembered(k *known, tenant, messages, session string) {
	k.put(past{opening: begins(k, tenant, messages), size: len(messages), sum: k.sum([]byte(messages)), session: session})
}

func begins(k *known, tenant, messages string) opening {
	return opening{tenant: tenant, first: k.sum([]byte(messages[:1]))}
}

func TestKnown(t *testing.T) {
	for name, test := range map[string]struct {
		most  int
		do    func(*known)
		asked string
		few   int
		want  []string
	}{
		"the longest first":  {8, nil, "abcde", 4, []string{"abcd", "abc", "a"}},
		"no more than asked": {8, nil, "abcde", 2, []string{"abcd", "abc"}},
		"shorter ones only":  {8, nil, "abc", 4, []string{"abc", "a"}},
		"other words":        {8, nil, "abxd", 4, []string{"a"}},
		"another beginning":  {8, nil, "xbcd", 4, nil},
		"the same again":     {8, func(k *known) { remembered(k, "t", "abc", "new") }, "abc", 4, []string{"new", "a"}},
		"another tenant's":   {8, func(k *known) { remembered(k, "other", "abcde", "theirs") }, "abcde", 4, []string{"abcd", "abc", "a"}},
		"the oldest goes":    {3, func(k *known) { remembered(k, "t", "abcde", "abcde") }, "abcde", 4, []string{"abcde", "abcd", "abc"}},
		"what was used stays": {3, func(k *known) {
			k.find(begins(k, "t", "a"), []byte("a"), 1)
			remembered(k, "t", "abcde", "abcde")
		}, "abcde", 4, []string{"abcde", "abcd", "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKnown(test.most)
			for _, messages := range []string{"a", "abc", "abcd"} {
				remembered(k, "t", messages, messages)
			}
			if test.do != nil {
				test.do(k)
			}
			var got []string
			for _, p := range k.find(begins(k, "t", test.asked), []byte(test.asked), test.few) {
				got = append(got, p.session)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("found %v, want %v", got, test.want)
			}
		})
	}
}

// What is forgotten leaves nothing behind, and calls that begin alike are bounded by themselves.
func TestKnownIsBounded(t *testing.T) {
	k := newKnown(1)
	remembered(k, "t", "a", "a")
	remembered(k, "t", "b", "b")
	if len(k.opening) != 1 || k.recent.Len() != 1 {
		t.Errorf("%d openings, %d calls", len(k.opening), k.recent.Len())
	}
	k = newKnown(2 * perOpening)
	for size := range perOpening + 1 {
		k.put(past{opening: opening{tenant: "t"}, size: size + 1})
	}
	if all := k.opening[opening{tenant: "t"}]; len(all) != perOpening || all[0].size != 2 || k.recent.Len() != perOpening {
		t.Errorf("%d calls, the first of %d bytes, %d in all", len(all), all[0].size, k.recent.Len())
	}
	// Messages of the system are remembered with a call: all of them together are bounded, however long they are.
	k = newKnown(64)
	long := strings.Repeat("x", mostSystems/16-len("short"))
	for i := range 20 {
		k.put(past{opening: opening{tenant: "t"}, size: i + 1, systems: []string{long, "short"}})
	}
	k.put(past{opening: opening{tenant: "t"}, size: 100, systems: []string{long, "shorter"}})
	if all := k.opening[opening{tenant: "t"}]; len(all) != 16 || all[0].size != 5 || all[15].size != 20 || k.systems != mostSystems {
		t.Errorf("%d calls, with %d bytes of the system", len(all), k.systems)
	}
}
